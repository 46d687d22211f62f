package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/open-policy-agent/frameworks/constraint/pkg/client"
	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/rego"
	"github.com/open-policy-agent/opa/v1/topdown"
	opatypes "github.com/open-policy-agent/opa/v1/types"
	"sigs.k8s.io/yaml"
)

// Twice as many entries must not cost more than this many times the steps. Linear work takes twice as many.
const mostGrowth = 2.6

// The sizes of which the time is printed, and those of which the steps are compared.
var (
	timed   = []int{100, 1000, 3000}
	counted = [2]int{1500, 3000}
)

// cost puts objects with very many entries to each template, and fails when the work grows faster than the object. An
// evaluation that outlasts the webhook's timeout passes under `failurePolicy: Ignore`, and delays everyone under `Fail`.
//
// Steps are the events of OPA's tracer: the same on every machine. Times are CPU times of Gatekeeper's engine, with a
// provider that says yes at once. They are printed and not tested.
func cost(ctx context.Context, templates, constraints string) error {
	provider := newProvider()
	defer provider.server.Close()
	provider.breaks = func(key string) string { return value(key, `{"allowed": true}`) }
	engine, err := gatekeeper(ctx, templates, provider.server)
	if err != nil {
		return err
	}
	fmt.Printf("%-19s %-46s", "template", "entries")
	for _, n := range timed {
		fmt.Printf("%10s", fmt.Sprintf("%d", n))
	}
	fmt.Printf("%12s %8s\n", fmt.Sprintf("steps %d", counted[1]), "doubled")
	var grown []string
	for _, each := range shapes {
		parameters, err := parametersOf(filepath.Join(constraints, each.file+".yaml"))
		if err != nil {
			return err
		}
		prepared, err := prepare(ctx, filepath.Join(templates, each.file+".yaml"))
		if err != nil {
			return err
		}
		fmt.Printf("%-19s %-46s", each.file, each.what)
		for _, n := range timed {
			took, err := shortest(ctx, engine, each, parameters, n)
			if err != nil {
				return err
			}
			fmt.Printf("%7.1f ms", float64(took.Microseconds())/1000)
		}
		var steps [2]int
		for i, n := range counted {
			if steps[i], err = stepsOf(ctx, prepared, each.request(n), parameters); err != nil {
				return fmt.Errorf("%s, %s: %w", each.file, each.what, err)
			}
		}
		growth := float64(steps[1]) / float64(steps[0])
		fmt.Printf("%12d %7.2fx\n", steps[1], growth)
		if growth > mostGrowth {
			grown = append(grown, fmt.Sprintf("%s, %s: %.2fx", each.file, each.what, growth))
		}
	}
	if len(grown) > 0 {
		return fmt.Errorf("twice the entries cost more than %.1f times the steps: %q", mostGrowth, grown)
	}
	fmt.Printf("ok  no template takes more than %.1f times the steps for twice the entries\n", mostGrowth)
	return nil
}

// shortest is the CPU time of the shortest of three evaluations in Gatekeeper's engine.
func shortest(ctx context.Context, engine *client.Client, each shape, parameters map[string]any, n int) (time.Duration, error) {
	request, err := json.Marshal(each.request(n))
	if err != nil {
		return 0, err
	}
	question := asked{Kind: kindOf(each.file), Parameters: parameters, Request: request}
	var best time.Duration
	for range 3 {
		begun := cpuTime()
		violations, err := judge(ctx, engine, question)
		took := cpuTime() - begun
		if err != nil {
			return 0, fmt.Errorf("%s, %s: %w", each.file, each.what, err)
		}
		if len(violations) > 0 {
			return 0, fmt.Errorf("%s, %s: refused although the provider says yes: %v", each.file, each.what, violations[0].Msg)
		}
		if best == 0 || took < best {
			best = took
		}
	}
	return best, nil
}

// cpuTime of this process so far. Other work on the machine does not change it much.
func cpuTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// steps counts what OPA does.
type steps struct{ count int }

func (s *steps) Enabled() bool               { return true }
func (s *steps) TraceEvent(topdown.Event)    { s.count++ }
func (s *steps) Config() topdown.TraceConfig { return topdown.TraceConfig{} }

// prepare compiles the Rego of a template with the OPA that Gatekeeper uses.
func prepare(ctx context.Context, file string) (rego.PreparedEvalQuery, error) {
	none := rego.PreparedEvalQuery{}
	text, err := os.ReadFile(file)
	if err != nil {
		return none, err
	}
	var template struct {
		Spec struct {
			Targets []struct {
				Code []struct {
					Source struct {
						Rego string   `json:"rego"`
						Libs []string `json:"libs"`
					} `json:"source"`
				} `json:"code"`
			} `json:"targets"`
		} `json:"spec"`
	}
	if err := yaml.Unmarshal(text, &template); err != nil {
		return none, fmt.Errorf("%s: %w", file, err)
	}
	source := template.Spec.Targets[0].Code[0].Source
	module, err := ast.ParseModuleWithOpts(file, source.Rego, ast.ParserOptions{RegoVersion: ast.RegoV1})
	if err != nil {
		return none, err
	}
	options := []func(*rego.Rego){
		rego.Query(module.Package.Path.String() + ".violation"),
		rego.SetRegoVersion(ast.RegoV1), rego.Module(file, source.Rego), yes(),
	}
	for i, lib := range source.Libs {
		options = append(options, rego.Module(fmt.Sprintf("%s-%d", file, i), lib))
	}
	return rego.New(options...).PrepareForEval(ctx)
}

// yes is `external_data` with a provider that says yes.
func yes() func(*rego.Rego) {
	declared := &rego.Function{Name: "external_data", Decl: opatypes.NewFunction(opatypes.Args(opatypes.A), opatypes.A)}
	return rego.Function1(declared, func(_ rego.BuiltinContext, question *ast.Term) (*ast.Term, error) {
		key := question.Get(ast.StringTerm("keys")).Get(ast.IntNumberTerm(0))
		answer := ast.ArrayTerm(key, ast.ObjectTerm([2]*ast.Term{ast.StringTerm("allowed"), ast.BooleanTerm(true)}))
		return ast.ObjectTerm(
			[2]*ast.Term{ast.StringTerm("responses"), ast.ArrayTerm(answer)},
			[2]*ast.Term{ast.StringTerm("errors"), ast.ArrayTerm()},
			[2]*ast.Term{ast.StringTerm("status_code"), ast.IntNumberTerm(200)},
			[2]*ast.Term{ast.StringTerm("system_error"), ast.StringTerm("")},
		), nil
	})
}

func stepsOf(ctx context.Context, prepared rego.PreparedEvalQuery, request, parameters map[string]any) (int, error) {
	counter := &steps{}
	input := map[string]any{"review": request, "parameters": parameters}
	results, err := prepared.Eval(ctx, rego.EvalInput(input), rego.EvalQueryTracer(counter))
	if err != nil {
		return 0, err
	}
	if violations, ok := results[0].Expressions[0].Value.([]any); !ok || len(violations) > 0 {
		return 0, fmt.Errorf("refused although the provider says yes: %v", results[0].Expressions[0].Value)
	}
	return counter.count, nil
}

// parametersOf are those of the constraint as we ship it.
func parametersOf(file string) (map[string]any, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var constraint struct {
		Spec struct {
			Parameters map[string]any `json:"parameters"`
		} `json:"spec"`
	}
	if err := yaml.Unmarshal(text, &constraint); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return constraint.Spec.Parameters, nil
}
