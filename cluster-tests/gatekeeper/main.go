// Puts every case to the templates in Gatekeeper's own engine: the same questions and the same violations as in the
// interpreter of Rego that the other tests use.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"

	"github.com/open-policy-agent/frameworks/constraint/pkg/client/reviews"
	"github.com/open-policy-agent/frameworks/constraint/pkg/externaldata"
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

const enforcementPoint = "validation.gatekeeper.sh"

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: gatekeeper-cases TEMPLATES CASES")
		os.Exit(2)
	}
	if err := run(context.Background(), os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "cluster-test failed:", err)
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
	values := map[string]any{}
	for _, each := range cases {
		if each.Key != nil {
			values[*each.Key] = each.Value
		}
	}
	seen := ""
	server := httptest.NewTLSServer(http.HandlerFunc(func(out http.ResponseWriter, in *http.Request) {
		var request externaldata.ProviderRequest
		response := externaldata.ProviderResponse{}
		if err := json.NewDecoder(in.Body).Decode(&request); err != nil {
			response.Response.SystemError = err.Error()
		}
		for _, key := range request.Request.Keys {
			seen = key
			if value, known := values[key]; known {
				response.Response.Items = append(response.Response.Items, externaldata.Item{Key: key, Value: value})
			}
		}
		_ = json.NewEncoder(out).Encode(response)
	}))
	defer server.Close()
	engine, err := gatekeeper(ctx, folder, server)
	if err != nil {
		return err
	}
	leftOut, wrong := 0, 0
	for _, each := range cases {
		constraint := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "constraints.gatekeeper.sh/v1beta1", "kind": each.Kind,
			"metadata": map[string]any{"name": "case"}, "spec": map[string]any{"parameters": each.Parameters},
		}}
		request := &admissionv1.AdmissionRequest{}
		if json.Unmarshal(each.Request, request) != nil {
			leftOut++
			continue
		}
		if _, err := engine.AddConstraint(ctx, constraint); err != nil {
			leftOut++
			continue
		}
		seen = ""
		review := &target.AugmentedReview{AdmissionRequest: request, IsAdmission: true}
		responses, err := engine.Review(ctx, review, reviews.EnforcementPoint(enforcementPoint))
		if err != nil {
			leftOut++
			continue
		}
		if told := differs(each, seen, responses.Results()); told != "" {
			wrong++
			fmt.Printf("%s by %s: %s\n", each.Case, each.Kind, told)
		}
		if _, err := engine.RemoveConstraint(ctx, constraint); err != nil {
			return err
		}
	}
	if wrong > 0 || leftOut > mostLeftOut {
		return fmt.Errorf("of %d cases %d are judged otherwise, and %d were left out", len(cases), wrong, leftOut)
	}
	fmt.Printf("ok  Gatekeeper's engine judges %d cases as the other, and asks the same (%d are no requests of an API server)\n",
		len(cases)-leftOut, leftOut)
	return nil
}
