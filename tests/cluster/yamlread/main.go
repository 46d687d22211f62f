// Prints the documents of files as kubectl reads them: the same splitting, the same YAML, the same JSON. One line each, and
// `error` for each document that kubectl refuses.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"k8s.io/apimachinery/pkg/util/yaml"
	sigsyaml "sigs.k8s.io/yaml"
)

func main() {
	for _, file := range os.Args[1:] {
		fmt.Println("#", file)
		data, err := os.ReadFile(file)
		if err != nil {
			fmt.Println("error", err)
			continue
		}
		read(data)
	}
}

func read(data []byte) {
	trimmed := bytes.TrimSpace(data)
	if bytes.HasPrefix(trimmed, []byte("{")) {
		decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(data), 4096)
		for {
			var raw json.RawMessage
			err := decoder.Decode(&raw)
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				fmt.Println("error", err)
				return
			}
			show(raw)
		}
	}
	documents := yaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(data)))
	for {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			fmt.Println("error", err)
			return
		}
		converted, err := sigsyaml.YAMLToJSON(document)
		if err != nil {
			fmt.Println("error", err)
			continue
		}
		show(converted)
	}
}

func show(converted []byte) {
	if string(bytes.TrimSpace(converted)) == "null" || len(converted) == 0 {
		return
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, converted); err != nil {
		fmt.Println("error", err)
		return
	}
	fmt.Println(compact.String())
}
