// SPDX-License-Identifier: Apache-2.0

// Package reel renders videos on a Reel server. The API itself is package reelv1. This package adds what every client of its
// streams must do. It resumes after a lost connection, starts the file again when the job does, and checks each chunk and the
// whole file.
package reel

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"time"

	_ "google.golang.org/genproto/googleapis/rpc/errdetails" // details of errors can be read
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"example.com/reel/client/go/reelv1"
)

const (
	attempts     = 10 // in a row, without getting further
	firstPause   = 100 * time.Millisecond
	longestPause = 5 * time.Second
	mostJobs     = 4 // that one Save may have made, each lost with its connection
)

// Save renders a video into a file, which appears under its name when it is whole and its SHA-256 is the server's. `onEvent` may be
// nil. Ending `ctx` cancels the job, unless the request is detached.
func Save(ctx context.Context, client reelv1.VideoServiceClient, request *reelv1.GenerateVideoRequest, path string,
	onEvent func(*reelv1.VideoEvent)) (*reelv1.Video, error) {
	part, err := openPart(path, false)
	if err != nil {
		return nil, err
	}
	defer part.close(false)
	request = proto.Clone(request).(*reelv1.GenerateVideoRequest)
	if request.RequestId == "" {
		request.RequestId = newRequestID()
	}
	if err := SendAhead(ctx, client, request.Spec); err != nil {
		return nil, err
	}
	s := saving{part: part, onEvent: onEvent}
	for {
		before := part.size
		video, err := s.try(ctx, client, request)
		if err == nil {
			return video, nil
		}
		if s.jobs >= mostJobs {
			return nil, fmt.Errorf("the connection keeps breaking, and the job is lost each time: %w", err)
		}
		if part.size > before {
			s.failures = 0
		}
		if err := s.wait(ctx, err); err != nil {
			return nil, err
		}
	}
}

// Download writes the file of a finished video, and goes on with a PATH.part that an earlier call has left.
func Download(ctx context.Context, client reelv1.VideoServiceClient, name, path string) (*reelv1.MediaInfo, error) {
	part, err := openPart(path, true)
	if err != nil {
		return nil, err
	}
	defer part.close(true)
	s, resumed := saving{part: part}, part.size > 0
	for {
		before := part.size
		media, err := s.download(ctx, client, name)
		if err == nil {
			return media, nil
		}
		if code := status.Code(err); resumed && (code == codes.DataLoss || code == codes.OutOfRange) {
			resumed = false // the part was of another file
			if err := part.restart(0); err != nil {
				return nil, err
			}
			continue
		}
		if part.size > before {
			s.failures = 0
		}
		if err := s.wait(ctx, err); err != nil {
			return nil, err
		}
	}
}

type saving struct {
	part     *partFile
	onEvent  func(*reelv1.VideoEvent)
	name     string // of the job that is followed
	sequence uint64 // of the last event that was told
	jobs     int
	failures int
}

func (s *saving) try(ctx context.Context, client reelv1.VideoServiceClient, request *reelv1.GenerateVideoRequest) (*reelv1.Video, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := client.GenerateVideo(ctx, request)
	if err != nil {
		return nil, err
	}
	for {
		response, err := stream.Recv()
		if err != nil {
			return nil, ended(err)
		}
		video, err := s.take(response.Event)
		if video != nil || err != nil {
			return video, err
		}
	}
}

func (s *saving) take(event *reelv1.VideoEvent) (*reelv1.Video, error) {
	switch kind := event.Event.(type) {
	case *reelv1.VideoEvent_Accepted:
		if kind.Accepted.Name == s.name {
			return nil, nil
		}
		s.name, s.sequence = kind.Accepted.Name, 0
		s.jobs++
		if err := s.part.restart(0); err != nil {
			return nil, err
		}
	case *reelv1.VideoEvent_Media:
		if err := s.part.take(kind.Media); err != nil {
			return nil, err
		}
		s.tell(event)
		return nil, nil
	case *reelv1.VideoEvent_Finished:
		if err := s.part.commit(kind.Finished.Media); err != nil {
			return nil, err
		}
		s.tell(event)
		return kind.Finished, nil
	case *reelv1.VideoEvent_Restarted:
		if kind.Restarted.Attempt > s.part.attempt {
			if err := s.part.restart(kind.Restarted.Attempt); err != nil {
				return nil, err
			}
		}
	}
	if event.Sequence > s.sequence {
		s.sequence = event.Sequence
		s.tell(event)
	}
	return nil, nil
}

func (s *saving) tell(event *reelv1.VideoEvent) {
	if s.onEvent != nil {
		s.onEvent(event)
	}
}

func (s *saving) download(ctx context.Context, client reelv1.VideoServiceClient, name string) (*reelv1.MediaInfo, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := client.DownloadVideo(ctx, &reelv1.DownloadVideoRequest{Name: name, ReadOffset: s.part.size})
	if err != nil {
		return nil, err
	}
	var media *reelv1.MediaInfo
	for {
		response, err := stream.Recv()
		if errors.Is(err, io.EOF) && media != nil {
			return media, s.part.commit(media)
		}
		if err != nil {
			return nil, ended(err)
		}
		if response.Chunk != nil {
			if err := s.part.take(response.Chunk); err != nil {
				return nil, err
			}
		}
		if response.Media != nil {
			media = response.Media
		}
	}
}

// wait returns `err` where another try is no use.
func (s *saving) wait(ctx context.Context, err error) error {
	if status.Code(err) != codes.Unavailable || s.failures >= attempts {
		return err
	}
	pause := firstPause << s.failures
	if pause > longestPause {
		pause = longestPause
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	s.failures++
	select {
	case <-ctx.Done():
		return err
	case <-timer.C:
		return nil
	}
}

// ended makes a stream that ended too soon one that broke.
func ended(err error) error {
	if errors.Is(err, io.EOF) {
		return status.Error(codes.Unavailable, "the stream ended before the video did")
	}
	return err
}

// newRequestID is a random UUID: a call that is made again with it joins the job of the first.
func newRequestID() string {
	var id [16]byte
	if _, err := rand.Read(id[:]); err != nil {
		panic(err)
	}
	id[6], id[8] = id[6]&0x0f|0x40, id[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", id[0:4], id[4:6], id[6:8], id[8:10], id[10:])
}
