// Drives the provider with the client that Gatekeeper drives it with, every key another one, in turns with a handler that
// does nothing: `make load`. What is compared is what Gatekeeper gets: from an object to the decision, and back again.
package main

import (
	"context"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/open-policy-agent/frameworks/constraint/pkg/apis/externaldata/unversioned"
	"github.com/open-policy-agent/frameworks/constraint/pkg/externaldata"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Whatever else the machine does meets both servers alike.
const turns = 20

// As many requests as Gatekeeper keeps connections.
const atOnce = 10

// With fewer, the server would not be warm when its memory is looked at.
const fewest = 20_000

// After so many turns everything is there that will ever be: threads, pages of the pool, buffers.
const warm = 2

const (
	leastThroughput = 0.4
	mostP99         = 3.0
	// Of what the provider has in memory when it is warm.
	mostMemory = 1.1
)

// server is one that is driven.
type server struct {
	provider *unversioned.Provider
	decides  bool
	times    []time.Duration
	took     time.Duration
}

func main() {
	if len(os.Args) != 6 {
		fmt.Fprintln(os.Stderr, "usage: load REQUESTS FOLDER NOTHING PROVIDER PID")
		os.Exit(2)
	}
	reached, err := run(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "load failed:", err)
	}
	if err != nil || !reached {
		os.Exit(1)
	}
}

func run(arguments []string) (bool, error) {
	requests, err := strconv.Atoi(arguments[0])
	if err != nil {
		return false, err
	}
	if requests < fewest {
		return false, fmt.Errorf("%d requests are too few to measure anything; %d are enough", requests, fewest)
	}
	folder := arguments[1]
	authority, err := os.ReadFile(filepath.Join(folder, "ca.crt"))
	if err != nil {
		return false, err
	}
	client, err := tls.LoadX509KeyPair(filepath.Join(folder, "client.crt"), filepath.Join(folder, "client.key"))
	if err != nil {
		return false, err
	}
	named := func(name, address string, decides bool) *server {
		spec := unversioned.ProviderSpec{
			URL: "https://" + address + "/v1/query", Timeout: 3,
			CABundle: base64.StdEncoding.EncodeToString(authority),
		}
		return &server{
			provider: &unversioned.Provider{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: spec},
			decides:  decides,
		}
	}
	nothing := named("nothing", arguments[2], false)
	ours, pid := named("provider", arguments[3], true), arguments[4]
	memory := 0.0
	for turn := range turns {
		for _, each := range []*server{nothing, ours} {
			if err := each.drive(requests/turns, &client); err != nil {
				return false, err
			}
		}
		if turn+1 == warm {
			if memory, err = residentMebibytes(pid); err != nil {
				return false, err
			}
		}
		fmt.Fprintf(os.Stderr, "\r%d of %d turns", turn+1, turns)
	}
	fmt.Fprintln(os.Stderr)
	end, err := residentMebibytes(pid)
	if err != nil {
		return false, err
	}
	fmt.Printf("%d requests to each by Gatekeeper's client, %d at once, in %d turns\n", len(ours.times), atOnce, turns)
	fmt.Println("            requests/s        p50        p99")
	for _, each := range []*server{nothing, ours} {
		slices.Sort(each.times)
		fmt.Printf("%-11s %10.0f %10s %10s\n", each.provider.Name, each.throughput(), each.percentile(50), each.percentile(99))
	}
	throughput := ours.throughput() / nothing.throughput()
	p99 := float64(ours.percentile(99)) / float64(nothing.percentile(99))
	fmt.Printf("throughput: %.2f of that of nothing, at least %.1f\n", throughput, leastThroughput)
	fmt.Printf("p99: %.2f times that of nothing, at most %.0f\n", p99, mostP99)
	fmt.Printf("memory: %.1f MiB after %d requests, %.1f MiB at the end, at most %.1f\n",
		memory, len(ours.times)*warm/turns, end, memory*mostMemory)
	return throughput >= leastThroughput && p99 <= mostP99 && end <= memory*mostMemory, nil
}

func (s *server) drive(count int, client *tls.Certificate) error {
	begin := time.Now()
	first := len(s.times)
	s.times = append(s.times, make([]time.Duration, count)...)
	var group sync.WaitGroup
	faults := make(chan error, atOnce)
	for part := range atOnce {
		group.Go(func() {
			for number := first + part; number < len(s.times); number += atOnce {
				begin := time.Now()
				if err := s.ask(number, client); err != nil {
					faults <- err
					return
				}
				s.times[number] = time.Since(begin)
			}
		})
	}
	group.Wait()
	s.took += time.Since(begin)
	close(faults)
	return <-faults
}

func (s *server) ask(number int, client *tls.Certificate) error {
	volume := func(zones ...string) map[string]any {
		requirement := map[string]any{"key": "topology.kubernetes.io/zone", "operator": "In", "values": zones}
		terms := []any{map[string]any{"matchExpressions": []any{requirement}}}
		return map[string]any{
			"metadata": map[string]any{"name": fmt.Sprintf("pv-%d", number)},
			"spec":     map[string]any{"nodeAffinity": map[string]any{"required": map[string]any{"nodeSelectorTerms": terms}}},
		}
	}
	key, err := json.Marshal(map[string]any{
		"v": 1, "settings": map[string]any{"volumeNodeAffinity": map[string]any{}},
		"request": map[string]any{
			"operation": "UPDATE", "name": fmt.Sprintf("pv-%d", number),
			"kind":   map[string]any{"group": "", "version": "v1", "kind": "PersistentVolume"},
			"object": volume("us-east1-b", "us-east1-c"), "oldObject": volume("us-east1-b"),
		},
	})
	if err != nil {
		return err
	}
	response, _, err := externaldata.DefaultSendRequestToProvider(context.Background(), s.provider, []string{string(key)}, client)
	if err != nil || !s.decides {
		return err
	}
	items := response.Response.Items
	if len(items) != 1 || items[0].Key != string(key) || !strings.Contains(fmt.Sprint(items[0].Value), "relation:widened") {
		return fmt.Errorf("the provider answers %v", response)
	}
	return nil
}

func (s *server) throughput() float64 { return float64(len(s.times)) / s.took.Seconds() }

func (s *server) percentile(percent int) time.Duration { return s.times[(len(s.times)-1)*percent/100] }

// residentMebibytes is what a process has in memory.
func residentMebibytes(pid string) (float64, error) {
	status, err := os.ReadFile(filepath.Join("/proc", pid, "status"))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(status)) {
		if fields := strings.Fields(line); len(fields) == 3 && fields[0] == "VmRSS:" {
			kibibytes, err := strconv.ParseFloat(fields[1], 64)
			return kibibytes / 1024, err
		}
	}
	return 0, fmt.Errorf("no memory of process %s", pid)
}
