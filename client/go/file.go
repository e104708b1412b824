// SPDX-License-Identifier: Apache-2.0

package reel

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"example.com/reel/client/go/reelv1"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// partFile is PATH.part until it is whole and its SHA-256 is the server's.
type partFile struct {
	path    string
	file    *os.File
	hash    hash.Hash
	size    int64
	attempt int32
}

// targetOf is what a rename would replace: behind links the file that they lead to.
func targetOf(path string) (string, error) {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return path, nil
	}
	target := path
	if err == nil && info.Mode()&fs.ModeSymlink != 0 {
		if target, err = filepath.EvalSymlinks(path); err == nil {
			info, err = os.Stat(target)
		}
	}
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", fmt.Errorf("%s is not a regular file", path)
	}
	return target, nil
}

// openPart goes on with what is there if `resume` says so.
func openPart(path string, resume bool) (*partFile, error) {
	path, err := targetOf(path)
	if err != nil {
		return nil, err
	}
	file, err := os.OpenFile(path+".part", os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	part := &partFile{path: path, file: file, hash: sha256.New()}
	if !resume {
		return part, part.restart(0)
	}
	part.size, err = io.Copy(part.hash, file)
	return part, err
}

func (p *partFile) restart(attempt int32) error {
	p.hash.Reset()
	p.size, p.attempt = 0, attempt
	if err := p.file.Truncate(0); err != nil {
		return err
	}
	_, err := p.file.Seek(0, io.SeekStart)
	return err
}

// take writes what of the chunk is new. UNAVAILABLE: it is damaged, or something before it is missing.
func (p *partFile) take(chunk *reelv1.MediaChunk) error {
	if crc32.Checksum(chunk.Data, castagnoli) != chunk.Crc32C {
		return status.Errorf(codes.Unavailable, "a part of the file was damaged in transit, at byte %d", chunk.Offset)
	}
	if chunk.Attempt < p.attempt {
		return nil
	}
	if chunk.Attempt > p.attempt {
		if p.attempt != 0 && p.size != 0 {
			if err := p.restart(chunk.Attempt); err != nil {
				return err
			}
		}
		p.attempt = chunk.Attempt
	}
	if chunk.Offset > p.size {
		return status.Errorf(codes.Unavailable, "a part of the file is missing before byte %d, after %d", chunk.Offset, p.size)
	}
	known := p.size - chunk.Offset
	if known >= int64(len(chunk.Data)) {
		return nil
	}
	data := chunk.Data[known:]
	p.hash.Write(data)
	p.size += int64(len(data))
	_, err := p.file.Write(data)
	return err
}

// commit gives the file its name. UNAVAILABLE: bytes are missing; DATA_LOSS: they are not the server's.
func (p *partFile) commit(media *reelv1.MediaInfo) error {
	if p.size < media.GetSizeBytes() {
		return status.Errorf(codes.Unavailable, "the stream ended before the file did: %d of %d bytes", p.size, media.GetSizeBytes())
	}
	if hex.EncodeToString(p.hash.Sum(nil)) != media.GetSha256() {
		return status.Error(codes.DataLoss, "the received file has the wrong SHA-256")
	}
	if err := p.file.Sync(); err != nil {
		return err
	}
	if err := p.file.Close(); err != nil {
		return err
	}
	p.file = nil
	if err := os.Rename(p.path+".part", p.path); err != nil {
		return fmt.Errorf("the file is whole, and cannot get its name: %w", err)
	}
	return nil
}

// close ends a file that was not committed; `keep`: what is there may be resumed.
func (p *partFile) close(keep bool) {
	if p.file == nil {
		return
	}
	p.file.Close()
	if !keep || p.size == 0 {
		os.Remove(p.path + ".part")
	}
}
