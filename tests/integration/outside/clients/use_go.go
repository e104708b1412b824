// SPDX-License-Identifier: Apache-2.0

// Run by go_client.py: use_go SERVER CUT_SERVER FOLDER CUT_UPLOAD.
package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"log"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	reel "example.com/reel/client/go"
	"example.com/reel/client/go/reelv1"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

func check(holds bool, what string, values ...any) {
	if !holds {
		log.Fatal(append([]any{what, ": "}, values...)...)
	}
}

func connect(server string) reelv1.VideoServiceClient {
	connection, err := grpc.Dial(server, grpc.WithTransportCredentials(insecure.NewCredentials()))
	check(err == nil, "dial", err)
	return reelv1.NewVideoServiceClient(connection)
}

func request(size int32, frames int32) *reelv1.GenerateVideoRequest {
	return &reelv1.GenerateVideoRequest{Spec: &reelv1.VideoSpec{Prompt: "a red circle", Width: size, Height: size, NumFrames: frames,
		NumInferenceSteps: 4, Seed: proto.Uint64(7), Encoding: &reelv1.EncodingOptions{Crf: proto.Int32(5)}}}
}

func save(client reelv1.VideoServiceClient, wanted *reelv1.GenerateVideoRequest, path string) *reelv1.Video {
	kinds := map[string]int{}
	video, err := reel.Save(context.Background(), client, wanted, path, func(event *reelv1.VideoEvent) {
		switch event.Event.(type) {
		case *reelv1.VideoEvent_Progress:
			kinds["progress"]++
		case *reelv1.VideoEvent_Finished:
			kinds["finished"]++
		}
	})
	check(err == nil, "save", err)
	content, err := os.ReadFile(path)
	check(err == nil, "read", err)
	sum := sha256.Sum256(content)
	check(hex.EncodeToString(sum[:]) == video.Media.Sha256, "the file is not the server's", path)
	check(kinds["progress"] > 0 && kinds["finished"] == 1, "events", kinds)
	return video
}

func useDownload(client reelv1.VideoServiceClient, video *reelv1.Video, folder string) {
	whole, _ := os.ReadFile(filepath.Join(folder, "a.mp4"))
	for name, part := range map[string][]byte{"fresh": nil, "resumed": whole[:1000], "other": bytes.Repeat([]byte("x"), 1000),
		"longer": append(append([]byte{}, whole...), 'x')} {
		path := filepath.Join(folder, name+".mp4")
		check(os.WriteFile(path+".part", part, 0o644) == nil, "write", path)
		media, err := reel.Download(context.Background(), client, video.Name, path)
		check(err == nil && media.Sha256 == video.Media.Sha256, "download", name, err)
		content, _ := os.ReadFile(path)
		check(bytes.Equal(content, whole), "the download differs", name)
	}
}

func useRefusal(client reelv1.VideoServiceClient, folder string) {
	path := filepath.Join(folder, "bad.mp4")
	_, err := reel.Save(context.Background(), client, request(33, 25), path, nil)
	check(status.Code(err) == codes.InvalidArgument, "sizes that are no multiples", err)
	violations := 0
	for _, detail := range status.Convert(err).Details() {
		if bad, is := detail.(*errdetails.BadRequest); is {
			violations += len(bad.FieldViolations)
		}
	}
	check(violations >= 2, "violations", violations)
	_, err = os.Stat(path + ".part")
	check(os.IsNotExist(err), "a part was left", err)
	adapted := request(256, 25)
	adapted.Spec.Adapters = []*reelv1.Adapter{reel.Adapter("grain", 0.5)}
	check(adapted.Spec.Adapters[0].GetScale() == 0.5, "scale", adapted.Spec.Adapters)
	_, err = reel.Save(context.Background(), client, adapted, path, nil)
	check(err != nil && strings.Contains(err.Error(), "spec.adapters[0].name"), "an adapter of no model", err)
}

// What is no regular file is refused before the server is asked; behind a link the file is replaced.
func usePaths(client reelv1.VideoServiceClient, video *reelv1.Video, folder string) {
	check(os.Mkdir(filepath.Join(folder, "folder"), 0o755) == nil, "mkdir")
	check(syscall.Mkfifo(filepath.Join(folder, "fifo"), 0o600) == nil, "mkfifo")
	check(os.Symlink("nothing", filepath.Join(folder, "lost")) == nil, "symlink")
	for _, name := range []string{"folder", "fifo", "lost"} {
		path := filepath.Join(folder, name)
		_, err := reel.Save(context.Background(), client, request(256, 25), path, func(*reelv1.VideoEvent) { log.Fatal("rendered for nothing") })
		check(err != nil, "saved over what is no file", path)
		_, err = reel.Download(context.Background(), client, video.Name, path)
		check(err != nil, "downloaded over what is no file", path)
		_, err = os.Lstat(path + ".part")
		check(os.IsNotExist(err), "a part was left", path)
	}
	real, link := filepath.Join(folder, "folder", "real.mp4"), filepath.Join(folder, "link.mp4")
	check(os.WriteFile(real, nil, 0o644) == nil && os.Symlink(real, link) == nil, "link")
	_, err := reel.Download(context.Background(), client, video.Name, link)
	check(err == nil, "download", err)
	info, _ := os.Lstat(link)
	content, _ := os.ReadFile(real)
	check(info.Mode()&os.ModeSymlink != 0 && int64(len(content)) == video.Media.SizeBytes, "the link was replaced")
}

func useLeaving(client reelv1.VideoServiceClient, folder string) {
	wanted := request(256, 25)
	wanted.Spec.NumInferenceSteps = 40
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	name := ""
	_, err := reel.Save(ctx, client, wanted, filepath.Join(folder, "left.mp4"), func(event *reelv1.VideoEvent) {
		if accepted := event.GetAccepted(); accepted != nil {
			name = accepted.Name
			cancel()
		}
	})
	check(status.Code(err) == codes.Canceled && name != "", "leaving", err)
	stream, err := client.WatchVideo(context.Background(), &reelv1.WatchVideoRequest{Name: name})
	for err == nil {
		_, err = stream.Recv()
	}
	check(status.Code(err) == codes.Canceled, "the job that was left goes on", err)
}

// Several of one prompt are one call, and files like any others once they are finished.
func useSeveral(client reelv1.VideoServiceClient, folder string) {
	made, err := client.CreateVideo(context.Background(), &reelv1.CreateVideoRequest{Spec: request(256, 9).Spec, Count: 3})
	check(err == nil && len(made.Videos) == 3, "several", err)
	for i, video := range made.Videos {
		check(video.Spec.GetSeed() == uint64(7+i), "seeds", video.Spec.GetSeed())
		stream, err := client.WatchVideo(context.Background(), &reelv1.WatchVideoRequest{Name: video.Name, WithoutMedia: true})
		for err == nil {
			_, err = stream.Recv()
		}
		_, err = reel.Download(context.Background(), client, video.Name, filepath.Join(folder, filepath.Base(video.Name)+".mp4"))
		check(err == nil, "download", err)
	}
}

// A second of 8,000 samples of 16 bits.
func writeSilence(folder string) string {
	path := filepath.Join(folder, "silence.wav")
	head, _ := base64.StdEncoding.DecodeString("UklGRqQ+AABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YYA+AAA=")
	check(os.WriteFile(path, append(head, make([]byte, 16_000)...), 0o644) == nil, "write", path)
	return path
}

// A picture and a sound of the disk, and videos that go on from one that was kept.
func useBeginnings(client reelv1.VideoServiceClient, folder string) {
	path := filepath.Join(folder, "dot.png")
	dot, _ := base64.StdEncoding.DecodeString("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==")
	check(os.WriteFile(path, dot, 0o644) == nil, "write", path)
	picture, err := reel.ConditionFromFile(path, 0)
	check(err == nil, "picture", err)
	clip, err := reel.ConditionFromFile(filepath.Join(folder, "a.mp4"), 8)
	check(err == nil && clip.GetVideo() != nil, "clip", err)
	wanted := request(256, 25)
	wanted.Spec.Conditions = []*reelv1.Condition{picture, clip}
	wanted.Spec.KeepState = proto.Bool(true)
	film := save(client, wanted, filepath.Join(folder, "film.mp4"))
	check(film.Spec.Conditions[0].ContentType == "image/png" && film.Spec.Conditions[1].ContentType == "video/mp4", "conditions", film.Spec.Conditions)
	extension := reel.Extension(film.Name, 24)
	extension.Prompt = "a blue star"
	longer := save(client, &reelv1.GenerateVideoRequest{Spec: extension}, filepath.Join(folder, "longer.mp4"))
	check(longer.SourceVideo == film.Name && longer.Spec.NumFrames == 49 && longer.Spec.Prompt == "a blue star", "extension", longer.Spec)
	other := save(client, &reelv1.GenerateVideoRequest{Spec: reel.Retake(film.Name, 250*time.Millisecond, time.Second)}, filepath.Join(folder, "other.mp4"))
	check(other.Spec.NumFrames == 25 && other.Spec.Prompt == "a red circle", "retake", other.Spec)
	draft := &reelv1.VideoSpec{Prompt: "a red circle", Preset: "two-pass", StopAfterPass: proto.Int32(1)}
	small := save(client, &reelv1.GenerateVideoRequest{Spec: draft}, filepath.Join(folder, "small.mp4"))
	promotion := reel.Promotion(small.Name)
	promotion.KeepState = proto.Bool(true)
	large := save(client, &reelv1.GenerateVideoRequest{Spec: promotion}, filepath.Join(folder, "large.mp4"))
	check(large.Media.Width == 2*small.Media.Width && large.StateSizeBytes > 0, "promotion", large.Media)
	sound, err := reel.SoundFromFile(writeSilence(folder))
	check(err == nil, "sound", err)
	song := &reelv1.VideoSpec{Prompt: "a red circle", Model: "singing", NumInferenceSteps: 2, Conditions: []*reelv1.Condition{sound}}
	sung := save(client, &reelv1.GenerateVideoRequest{Spec: song}, filepath.Join(folder, "sung.mp4"))
	check(sung.Spec.Conditions[0].ContentType == "audio/wav", "sound", sung.Spec.Conditions)
	check(os.Truncate(path, 256<<20+1) == nil, "truncate", path)
	_, err = reel.ConditionFromFile(path, 0)
	check(err != nil && strings.Contains(err.Error(), "268435457"), "too large", err)
}

// The same clip with a box at its end that means nothing.
func padded(clip []byte, size int) []byte {
	all := append(append([]byte{}, clip...), make([]byte, size-len(clip))...)
	binary.BigEndian.PutUint32(all[len(clip):], uint32(size-len(clip)))
	copy(all[len(clip)+4:], "free")
	return all
}

// What is too large for a request goes ahead of it by itself, and gives the same video; Upload tells how far it is, and is tried again.
func useFiles(client, cut reelv1.VideoServiceClient, folder string) {
	clip, _ := os.ReadFile(filepath.Join(folder, "a.mp4"))
	content, path := padded(clip, 5_000_000), filepath.Join(folder, "large.mp4")
	check(os.WriteFile(path, content, 0o644) == nil, "write", path)
	var same []string
	for _, path := range []string{filepath.Join(folder, "a.mp4"), path} {
		wanted := request(256, 25)
		pinned, err := reel.ConditionFromFile(path, 0)
		check(err == nil, "clip", err)
		wanted.Spec.Conditions = []*reelv1.Condition{pinned}
		same = append(same, save(client, wanted, filepath.Join(folder, "pinned.mp4")).Media.Sha256)
		check(pinned.GetVideo() != nil, "the caller's request was changed")
	}
	check(same[0] == same[1], "another video", same)
	refinement, err := reel.RefinementFromFile(path)
	check(err == nil, "refinement", err)
	refinement.Width, refinement.Height, refinement.NumFrames, refinement.DenoiseStrength = 512, 512, 25, proto.Float64(0.5)
	refined := save(client, &reelv1.GenerateVideoRequest{Spec: refinement}, filepath.Join(folder, "refined.mp4"))
	check(refined.Media.Width == 512 && refined.Spec.Conditions[0].Use == reelv1.ConditionUse_CONDITION_USE_REFINE, "refined", refined.Spec)
	_, err = reel.RefinementFromFile(filepath.Join(folder, "silence.wav"))
	check(err != nil && strings.Contains(err.Error(), "silence.wav"), "a sound was refined", err)
	four := request(256, 49) // each has room in a request, all together have not
	for frame := int32(0); frame < 32; frame += 8 {
		part := &reelv1.Condition{FrameIndex: frame, Source: &reelv1.Condition_Video{Video: padded(clip, 1<<20)}}
		four.Spec.Conditions = append(four.Spec.Conditions, part)
	}
	save(client, four, filepath.Join(folder, "four.mp4"))
	sum := sha256.Sum256(content)
	for _, client := range []reelv1.VideoServiceClient{client, cut} {
		told := int64(0)
		uploaded, err := reel.UploadFile(context.Background(), client, path, func(sent, size int64) { told = sent })
		check(err == nil && uploaded.Name == "files/"+hex.EncodeToString(sum[:]) && told == 5_000_000, "upload", uploaded, err)
	}
	check(os.Truncate(path, 0) == nil, "truncate", path)
	_, err = reel.UploadFile(context.Background(), client, path, nil)
	check(err != nil && strings.Contains(err.Error(), "large.mp4"), "an empty file", err)
}

// As if the server were older: it answers Unimplemented.
func forgetUploads(ctx context.Context, desc *grpc.StreamDesc, connection *grpc.ClientConn, method string, streamer grpc.Streamer,
	options ...grpc.CallOption) (grpc.ClientStream, error) {
	return streamer(ctx, desc, connection, strings.Replace(method, "/UploadFile", "/NoUploadFile", 1), options...)
}

// To a server without uploads a file goes in the request where it has room, and is refused by its size where it has not.
func useOlderServer(server, folder string) {
	connection, err := grpc.Dial(server, grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithStreamInterceptor(forgetUploads))
	check(err == nil, "dial", err)
	client := reelv1.NewVideoServiceClient(connection)
	clip, _ := os.ReadFile(filepath.Join(folder, "a.mp4"))
	half := func(frame int32) *reelv1.Condition {
		return &reelv1.Condition{FrameIndex: frame, Source: &reelv1.Condition_Video{Video: padded(clip, 2_000_000)}}
	}
	wanted := request(256, 25)
	wanted.Spec.Conditions = []*reelv1.Condition{half(0)}
	made := save(client, wanted, filepath.Join(folder, "older.mp4"))
	check(made.Spec.Conditions[0].SizeBytes == 2_000_000, "inside", made.Spec.Conditions)
	wanted.Spec.Conditions = append(wanted.Spec.Conditions, half(8))
	_, err = reel.Save(context.Background(), client, wanted, filepath.Join(folder, "bad.mp4"), nil)
	check(status.Code(err) == codes.InvalidArgument && strings.Contains(err.Error(), "4000000 bytes") && strings.Contains(err.Error(), "no files ahead"),
		"4 MB were sent in a request", err)
}

func main() {
	client, folder := connect(os.Args[1]), os.Args[3]
	video := save(client, request(256, 25), filepath.Join(folder, "a.mp4"))
	useDownload(client, video, folder)
	useRefusal(client, folder)
	usePaths(client, video, folder)
	useLeaving(client, folder)
	useSeveral(client, folder)
	useBeginnings(client, folder)
	useFiles(client, connect(os.Args[4]), folder)
	useOlderServer(os.Args[1], folder)
	large := save(connect(os.Args[2]), request(512, 49), filepath.Join(folder, "cut.mp4"))
	check(large.Media.SizeBytes > 300_000, "too small to be cut", large.Media.SizeBytes)
}
