package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

// reviewOf is what the API server asks about the edit that takes zone us-east1-c away from a volume that it has now.
func (c *cluster) reviewOf(ctx context.Context, volume string) (*admissionv1.AdmissionReview, error) {
	before, err := c.api.get(ctx, zonal(volume, ""))
	if err != nil {
		return nil, err
	}
	after := before.DeepCopy()
	wanted := zonal(volume, "us-east1-b")
	affinity, _, err := unstructured.NestedMap(wanted.Object, "spec", "nodeAffinity")
	if err != nil {
		return nil, err
	}
	if err := unstructured.SetNestedMap(after.Object, affinity, "spec", "nodeAffinity"); err != nil {
		return nil, err
	}
	kind := metav1.GroupVersionKind{Version: "v1", Kind: "PersistentVolume"}
	resource := metav1.GroupVersionResource{Version: "v1", Resource: "persistentvolumes"}
	return &admissionv1.AdmissionReview{
		TypeMeta: metav1.TypeMeta{APIVersion: "admission.k8s.io/v1", Kind: "AdmissionReview"},
		Request: &admissionv1.AdmissionRequest{
			UID: types.UID("edit-of-" + volume), Kind: kind, RequestKind: &kind, Resource: resource, RequestResource: &resource,
			Name: volume, Operation: admissionv1.Update, UserInfo: authenticationv1.UserInfo{Username: "admin"},
			Object: runtime.RawExtension{Object: after}, OldObject: runtime.RawExtension{Object: before},
		},
	}, nil
}

// admit asks the program as the API server does. It returns why a request is refused; nothing where it is accepted.
func (p *provider) admit(ctx context.Context, review *admissionv1.AdmissionReview) (string, error) {
	body, err := json.Marshal(review)
	if err != nil {
		return "", err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(p.authority.pem)
	client := &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{
		TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots}, DisableKeepAlives: true,
	}}
	url := fmt.Sprintf("https://127.0.0.1:%d/v1/admit", p.port)
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := client.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	var answer admissionv1.AdmissionReview
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		return "", fmt.Errorf("%s: %w", response.Status, err)
	}
	switch {
	case answer.Response == nil || answer.Response.UID != review.Request.UID:
		return "", fmt.Errorf("%s: an answer to another question", response.Status)
	case answer.Response.Allowed:
		return "", nil
	case answer.Response.Result == nil || answer.Response.Result.Message == "":
		return "", fmt.Errorf("%s: a refusal without a reason", response.Status)
	}
	return answer.Response.Result.Message, nil
}
