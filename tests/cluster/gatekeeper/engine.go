package main

import (
	"context"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"

	"github.com/open-policy-agent/frameworks/constraint/pkg/apis/externaldata/unversioned"
	templatesv1 "github.com/open-policy-agent/frameworks/constraint/pkg/apis/templates/v1"
	"github.com/open-policy-agent/frameworks/constraint/pkg/client"
	"github.com/open-policy-agent/frameworks/constraint/pkg/client/drivers/rego"
	"github.com/open-policy-agent/frameworks/constraint/pkg/core/templates"
	"github.com/open-policy-agent/frameworks/constraint/pkg/externaldata"
	"github.com/open-policy-agent/frameworks/constraint/pkg/types"
	"github.com/open-policy-agent/gatekeeper/v3/pkg/target"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"
)

// gatekeeper is its engine with our templates, and with a provider under the name that they ask.
func gatekeeper(ctx context.Context, folder string, server *httptest.Server) (*client.Client, error) {
	scheme := runtime.NewScheme()
	if err := templatesv1.AddToScheme(scheme); err != nil {
		return nil, err
	}
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	provider := &unversioned.Provider{}
	provider.Name = "placement-guard"
	provider.Spec = unversioned.ProviderSpec{
		URL: server.URL, Timeout: 10, CABundle: base64.StdEncoding.EncodeToString(ca),
	}
	providers := externaldata.NewCache()
	if err := providers.Upsert(provider); err != nil {
		return nil, err
	}
	driver, err := rego.New(rego.AddExternalDataProviderCache(providers))
	if err != nil {
		return nil, err
	}
	engine, err := client.NewClient(client.Targets(&target.K8sValidationTarget{}), client.Driver(driver),
		client.EnforcementPoints(enforcementPoint))
	if err != nil {
		return nil, err
	}
	files, err := filepath.Glob(filepath.Join(folder, "*.yaml"))
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("%s: no templates: %w", folder, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		written, template := &templatesv1.ConstraintTemplate{}, &templates.ConstraintTemplate{}
		if err := yaml.UnmarshalStrict(text, written); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		if err := scheme.Convert(written, template, nil); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		if _, err := engine.AddTemplate(ctx, template); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	return engine, nil
}

// differs says what is otherwise than expected, if anything.
func differs(expected asked, seen string, violations []*types.Result) string {
	key := ""
	if expected.Key != nil {
		key = *expected.Key
	}
	switch {
	case seen != key:
		return fmt.Sprintf("asked %q, expected %q", seen, key)
	case expected.Message == nil && len(violations) == 0:
		return ""
	case expected.Message != nil && len(violations) == 1 && violations[0].Msg == *expected.Message:
		return ""
	default:
		messages := []string{}
		for _, violation := range violations {
			messages = append(messages, violation.Msg)
		}
		return fmt.Sprintf("said %q", messages)
	}
}
