// SPDX-License-Identifier: Apache-2.0

package reel

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"example.com/reel/client/go/reelv1"
)

const (
	sentAheadBytes     = 1 << 20   // of a file; larger ones go ahead of the request
	mostConditionBytes = 3_670_016 // of those in one request together
	mostFileBytes      = 256 << 20 // that any server takes
	pieceBytes         = 256 << 10
)

// Upload sends a file before the requests that name it (Condition_File). `onProgress` may be nil; it gets the bytes sent and the size. After a
// broken connection the upload starts again.
func Upload(ctx context.Context, client reelv1.VideoServiceClient, content io.ReaderAt, size int64,
	onProgress func(sent, size int64)) (*reelv1.UploadedFile, error) {
	if size < 1 {
		return nil, fmt.Errorf("a file has at least a byte, not %d", size)
	}
	tries := saving{}
	for {
		file, err := upload(ctx, client, content, size, onProgress)
		if err == nil {
			return file, nil
		}
		if err := tries.wait(ctx, err); err != nil {
			return nil, err
		}
	}
}

// UploadFile uploads the file at a path.
func UploadFile(ctx context.Context, client reelv1.VideoServiceClient, path string,
	onProgress func(sent, size int64)) (*reelv1.UploadedFile, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() < 1 {
		return nil, fmt.Errorf("%s is empty", path)
	}
	return Upload(ctx, client, file, info.Size(), onProgress)
}

// SendAhead uploads the conditions that are too large for a request and puts their names into the spec. They stay in the spec if the server knows no
// uploads, and are an InvalidArgument if a request has no room for them. Save does this itself.
func SendAhead(ctx context.Context, client reelv1.VideoServiceClient, spec *reelv1.VideoSpec) error {
	left := mostConditionBytes
	for _, condition := range spec.GetConditions() {
		content := contentOf(condition)
		if len(content) <= sentAheadBytes && len(content) <= left {
			left -= len(content)
			continue
		}
		file, err := Upload(ctx, client, bytes.NewReader(content), int64(len(content)), nil)
		if status.Code(err) == codes.Unimplemented {
			return checkRoom(spec)
		}
		if err != nil {
			return err
		}
		if _, isSound := condition.Source.(*reelv1.Condition_Audio); isSound && strings.HasPrefix(file.ContentType, "video/") {
			condition.ContentType = "audio/mp4" // of an MP4, which is a clip otherwise
		}
		condition.Source = &reelv1.Condition_File{File: file.Name}
	}
	return nil
}

func checkRoom(spec *reelv1.VideoSpec) error {
	size := 0
	for _, condition := range spec.GetConditions() {
		size += len(contentOf(condition))
	}
	if size <= mostConditionBytes {
		return nil
	}
	return status.Errorf(codes.InvalidArgument, "the conditions have %d bytes; a request has room for %d, and this server takes no files ahead of requests",
		size, mostConditionBytes)
}

func contentOf(condition *reelv1.Condition) []byte {
	switch source := condition.Source.(type) {
	case *reelv1.Condition_Image:
		return source.Image
	case *reelv1.Condition_Video:
		return source.Video
	case *reelv1.Condition_Audio:
		return source.Audio
	}
	return nil
}

func upload(ctx context.Context, client reelv1.VideoServiceClient, content io.ReaderAt, size int64,
	onProgress func(sent, size int64)) (*reelv1.UploadedFile, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := client.UploadFile(ctx)
	if err != nil {
		return nil, err
	}
	for sent := int64(0); sent < size; {
		data := make([]byte, min64(pieceBytes, size-sent))
		if n, err := content.ReadAt(data, sent); n < len(data) {
			return nil, fmt.Errorf("the file cannot be read at byte %d: %w", sent, err)
		}
		piece := &reelv1.UploadFileRequest{Data: data}
		if sent == 0 {
			piece.SizeBytes = size
		}
		if err := stream.Send(piece); errors.Is(err, io.EOF) {
			break // the server has ended the call, and says why below
		} else if err != nil {
			return nil, err
		}
		sent += int64(len(data))
		if onProgress != nil {
			onProgress(sent, size)
		}
	}
	response, err := stream.CloseAndRecv()
	return response.GetFile(), err
}

func min64(a, b int64) int64 {
	if a < b {
		return a
	}
	return b
}
