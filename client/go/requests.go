// SPDX-License-Identifier: Apache-2.0

package reel

import (
	"fmt"
	"os"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"example.com/reel/client/go/reelv1"
)

const refinedPrompt = "a sharp, detailed video" // the API wants one; the clip says most of what it would

func read(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Size() < 1 || info.Size() > mostFileBytes {
		return nil, fmt.Errorf("%s has %d bytes; files have 1 to %d", path, info.Size(), mostFileBytes)
	}
	return os.ReadFile(path)
}

func isMP4(content []byte) bool { return len(content) > 8 && string(content[4:8]) == "ftyp" }

// ConditionFromFile reads a PNG, JPEG, WebP or MP4 that the video follows from `frameIndex` on. Above 1 MiB Save sends it ahead of the request.
func ConditionFromFile(path string, frameIndex int32) (*reelv1.Condition, error) {
	content, err := read(path)
	if err != nil {
		return nil, err
	}
	condition := &reelv1.Condition{FrameIndex: frameIndex}
	if isMP4(content) {
		condition.Source = &reelv1.Condition_Video{Video: content}
	} else {
		condition.Source = &reelv1.Condition_Image{Image: content}
	}
	return condition, nil
}

// SoundFromFile reads a WAV, FLAC, MP3 or MP4 whose sound the video has, and its pictures follow.
func SoundFromFile(path string) (*reelv1.Condition, error) {
	content, err := read(path)
	if err != nil {
		return nil, err
	}
	return &reelv1.Condition{Source: &reelv1.Condition_Audio{Audio: content}}, nil
}

// RefinementFromFile asks for an MP4 of any origin to be refined by the second pass of a preset of two. Its size, rate and length are the preset's unless
// the spec gets others; DenoiseStrength is how much noise it gets.
func RefinementFromFile(path string) (*reelv1.VideoSpec, error) {
	content, err := read(path)
	if err != nil {
		return nil, err
	}
	if !isMP4(content) {
		return nil, fmt.Errorf("only an MP4 is refined: %s", path)
	}
	clip := &reelv1.Condition{Use: reelv1.ConditionUse_CONDITION_USE_REFINE, Source: &reelv1.Condition_Video{Video: content}}
	return &reelv1.VideoSpec{Prompt: refinedPrompt, Conditions: []*reelv1.Condition{clip}}, nil
}

// Adapter names an adapter (LoRA) of the model, by so much. PartScales and PassScales of what it returns are times that.
func Adapter(name string, scale float64) *reelv1.Adapter {
	return &reelv1.Adapter{Name: name, Scale: &scale}
}

// Promotion asks for the rest of a draft. Others can go on from that if the spec's KeepState is set.
func Promotion(video string) *reelv1.VideoSpec {
	return &reelv1.VideoSpec{Source: &reelv1.Source{Video: video, Begin: &reelv1.Source_Promote{Promote: &reelv1.Promote{}}}}
}

// Extension asks for so many frames behind a video's last ones, with the video's prompt unless the spec gets another.
func Extension(video string, frames int32) *reelv1.VideoSpec {
	extend := &reelv1.Extend{NumFrames: frames}
	return &reelv1.VideoSpec{Source: &reelv1.Source{Video: video, Begin: &reelv1.Source_Extend{Extend: extend}}}
}

// Retake asks for a video once more, with a stretch of it made anew, by the video's prompt unless the spec gets another.
func Retake(video string, begin, end time.Duration) *reelv1.VideoSpec {
	retake := &reelv1.Retake{Begin: durationpb.New(begin), End: durationpb.New(end)}
	return &reelv1.VideoSpec{Source: &reelv1.Source{Video: video, Begin: &reelv1.Source_Retake{Retake: retake}}}
}
