package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// gate is a webhook that accepts every binding: at once, or when it is opened. While it is shut, a scheduler has decided and
// its binding has not happened.
type gate struct {
	mutex  sync.Mutex
	opened chan struct{}
	// The node of each pod whose binding came while the gate was shut.
	held     map[string]string
	answered atomic.Int64
	url      string
	ca       []byte
}

// serveGate serves an open gate until the test ends.
func (c *cluster) serveGate(ctx context.Context) (*gate, error) {
	authority, err := newAuthority("gate-ca")
	if err != nil {
		return nil, err
	}
	if _, err := authority.issue(c.file("gate"), "localhost"); err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	it := &gate{
		opened: make(chan struct{}), held: map[string]string{}, ca: authority.pem,
		url: fmt.Sprintf("https://%s/bindings", listener.Addr()),
	}
	close(it.opened)
	server := &http.Server{Handler: http.HandlerFunc(it.answer), ReadHeaderTimeout: 10 * time.Second}
	context.AfterFunc(ctx, func() { _ = server.Close() })
	go func() { _ = server.ServeTLS(listener, c.file("gate/tls.crt"), c.file("gate/tls.key")) }()
	return it, nil
}

func (g *gate) answer(writer http.ResponseWriter, asked *http.Request) {
	var review admissionv1.AdmissionReview
	var binding corev1.Binding
	err := json.NewDecoder(asked.Body).Decode(&review)
	if err == nil && review.Request != nil {
		err = json.Unmarshal(review.Request.Object.Raw, &binding)
	}
	if err != nil || review.Request == nil {
		http.Error(writer, "not the review of a binding", http.StatusBadRequest)
		return
	}
	g.mutex.Lock()
	opened := g.opened
	select {
	case <-opened:
	default:
		g.held[review.Request.Name] = binding.Target.Name
	}
	g.mutex.Unlock()
	select {
	case <-opened:
	case <-asked.Context().Done():
		return
	}
	g.answered.Add(1)
	review.Response = &admissionv1.AdmissionResponse{UID: review.Request.UID, Allowed: true}
	review.Request = nil
	writer.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(writer).Encode(review)
}

func (g *gate) shut() {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	g.opened, g.held = make(chan struct{}), map[string]string{}
}

func (g *gate) open() {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	close(g.opened)
}

// holding is what waits: the node of each pod.
func (g *gate) holding() map[string]string {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	held := map[string]string{}
	for pod, node := range g.held {
		held[pod] = node
	}
	return held
}

var (
	bindings = admissionregistrationv1.RuleWithOperations{
		Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
		Rule: admissionregistrationv1.Rule{
			APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods/binding"},
		},
	}
	fail = admissionregistrationv1.Fail
	none = admissionregistrationv1.SideEffectClassNone
	wait = int32(30)
)

func (g *gate) client() admissionregistrationv1.WebhookClientConfig {
	return admissionregistrationv1.WebhookClientConfig{URL: &g.url, CABundle: g.ca}
}

// before has every binding pass the gate before any webhook judges it. It returns how to end that.
func (g *gate) before(ctx context.Context, c *cluster) (end func() error, err error) {
	it := &admissionregistrationv1.MutatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "gate"},
		Webhooks: []admissionregistrationv1.MutatingWebhook{{
			Name: "gate.example.com", ClientConfig: g.client(), AdmissionReviewVersions: []string{"v1"},
			Rules: []admissionregistrationv1.RuleWithOperations{bindings}, FailurePolicy: &fail, SideEffects: &none,
			TimeoutSeconds: &wait,
		}},
	}
	client := c.client.AdmissionregistrationV1().MutatingWebhookConfigurations()
	if _, err := client.Create(ctx, it, metav1.CreateOptions{}); err != nil {
		return nil, err
	}
	return func() error { return client.Delete(ctx, it.Name, metav1.DeleteOptions{}) }, nil
}

// beside has the gate judge bindings as our webhook does. It returns how to end that.
func (g *gate) beside(ctx context.Context, c *cluster) (end func() error, err error) {
	it := &admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "gate"},
		Webhooks: []admissionregistrationv1.ValidatingWebhook{{
			Name: "gate.example.com", ClientConfig: g.client(), AdmissionReviewVersions: []string{"v1"},
			Rules: []admissionregistrationv1.RuleWithOperations{bindings}, FailurePolicy: &fail, SideEffects: &none,
			TimeoutSeconds: &wait,
		}},
	}
	client := c.client.AdmissionregistrationV1().ValidatingWebhookConfigurations()
	if _, err := client.Create(ctx, it, metav1.CreateOptions{}); err != nil {
		return nil, err
	}
	return func() error { return client.Delete(ctx, it.Name, metav1.DeleteOptions{}) }, nil
}
