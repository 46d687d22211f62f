// Puts every case to the templates in Gatekeeper's own engine: they must ask the same questions and find the same violations
// as in the Rego interpreter of the other tests. `cost` measures the templates on objects with very many entries.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/open-policy-agent/frameworks/constraint/pkg/client"
	"github.com/open-policy-agent/frameworks/constraint/pkg/client/reviews"
	"github.com/open-policy-agent/frameworks/constraint/pkg/types"
	"github.com/open-policy-agent/gatekeeper/v3/pkg/target"
	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// asked is one section of one case.
type asked struct {
	Case       string          `json:"case"`
	Kind       string          `json:"kind"`
	Parameters map[string]any  `json:"parameters"`
	Request    json.RawMessage `json:"request"`
	Key        *string         `json:"key"`
	Value      any             `json:"value"`
	Message    *string         `json:"message"`
}

// Cases that an API server would never send, or parameters that it would never store, are left out; not more than these.
const mostLeftOut = 40

const noDecision = "placement-guard gave no decision, so the request is refused: "

const enforcementPoint = "validation.gatekeeper.sh"

func main() {
	var err error
	switch {
	case len(os.Args) == 3:
		err = run(context.Background(), os.Args[1], os.Args[2])
	case len(os.Args) == 4 && os.Args[1] == "cost":
		err = cost(context.Background(), os.Args[2], os.Args[3])
	default:
		fmt.Fprintln(os.Stderr, "usage: gatekeeper-cases TEMPLATES CASES\n       gatekeeper-cases cost TEMPLATES CONSTRAINTS")
		os.Exit(2)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "gatekeeper-cases failed:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, folder, file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var cases []asked
	if err := json.Unmarshal(text, &cases); err != nil {
		return err
	}
	provider := newProvider()
	defer provider.server.Close()
	engine, err := gatekeeper(ctx, folder, provider.server)
	if err != nil {
		return err
	}
	leftOut, wrong := 0, 0
	accepted := map[string]asked{}
	for _, each := range cases {
		provider.now = each
		violations, err := judge(ctx, engine, each)
		if errors.Is(err, errNoRequest) {
			leftOut++
			continue
		} else if err != nil {
			return err
		}
		if told := differs(each, provider.seen, violations); told != "" {
			wrong++
			fmt.Printf("%s by %s: %s\n", each.Case, each.Kind, told)
		}
		if each.Key != nil && each.Message == nil {
			accepted[each.Kind] = each
		}
		provider.seen = ""
	}
	if wrong > 0 || leftOut > mostLeftOut {
		return fmt.Errorf("of %d cases %d are judged otherwise, and %d were left out", len(cases), wrong, leftOut)
	}
	fmt.Printf("ok  Gatekeeper's engine judges %d cases as the other, and asks the same (%d are no requests of an API server)\n",
		len(cases)-leftOut, leftOut)
	files, err := filepath.Glob(filepath.Join(folder, "*.yaml"))
	if err != nil {
		return err
	}
	if len(accepted) != len(files) {
		return fmt.Errorf("of %d templates %d have a case that passes on a clear yes", len(files), len(accepted))
	}
	for kind, each := range accepted {
		for what, body := range broken {
			provider.breaks = body
			violations, err := judge(ctx, engine, each)
			if err != nil {
				return err
			}
			if len(violations) != 1 || !strings.HasPrefix(violations[0].Msg, noDecision) {
				return fmt.Errorf("%s lets a request pass when the provider answers %s: %v", kind, what, violations)
			}
		}
	}
	fmt.Printf("ok  each of %d kinds refuses with each of %d broken providers\n", len(accepted), len(broken))
	return nil
}

var errNoRequest = errors.New("no request of an API server")

// judge puts a request to a constraint with these parameters.
func judge(ctx context.Context, engine *client.Client, each asked) ([]*types.Result, error) {
	constraint := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "constraints.gatekeeper.sh/v1beta1", "kind": each.Kind,
		"metadata": map[string]any{"name": "case"}, "spec": map[string]any{"parameters": each.Parameters},
	}}
	request := &admissionv1.AdmissionRequest{}
	if json.Unmarshal(each.Request, request) != nil {
		return nil, errNoRequest
	}
	if _, err := engine.AddConstraint(ctx, constraint); err != nil {
		return nil, errNoRequest
	}
	review := &target.AugmentedReview{AdmissionRequest: request, IsAdmission: true}
	responses, err := engine.Review(ctx, review, reviews.EnforcementPoint(enforcementPoint))
	if err != nil {
		return nil, errNoRequest
	}
	_, err = engine.RemoveConstraint(ctx, constraint)
	return responses.Results(), err
}
