// SPDX-License-Identifier: Apache-2.0

// Reads dashboards as strictly as Grafana's published types allow: prints what they do not know, lack or refuse.
package main

import (
	"fmt"
	"os"

	"github.com/grafana/grafana-foundation-sdk/go/cog/plugins"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
)

func problem(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var read dashboard.Dashboard
	// An error without a word is an empty list of errors.
	if err := read.UnmarshalJSONStrict(text); err != nil && err.Error() != "" {
		return err
	}
	return read.Validate()
}

func main() {
	plugins.RegisterDefaultPlugins()
	failed := false
	for _, path := range os.Args[1:] {
		if err := problem(path); err != nil {
			failed = true
			fmt.Printf("%s: %v\n", path, err)
		}
	}
	if failed {
		os.Exit(1)
	}
}
