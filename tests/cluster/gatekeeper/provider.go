package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/open-policy-agent/frameworks/constraint/pkg/externaldata"
)

// provider answers the key of a case as it was answered when the case was printed, or as it is told to break.
type provider struct {
	server *httptest.Server
	// now is the case that is judged. Cases of several clusters may ask the same.
	now asked
	// seen is the last key that it was asked.
	seen string
	// breaks makes the body of an answer to a key, itself as JSON.
	breaks func(key string) string
}

func newProvider() *provider {
	started := &provider{}
	started.server = httptest.NewTLSServer(http.HandlerFunc(func(out http.ResponseWriter, in *http.Request) {
		var request externaldata.ProviderRequest
		response := externaldata.ProviderResponse{}
		if err := json.NewDecoder(in.Body).Decode(&request); err != nil {
			response.Response.SystemError = err.Error()
		}
		for _, key := range request.Request.Keys {
			started.seen = key
			if started.breaks != nil {
				written, _ := json.Marshal(key)
				_, _ = out.Write([]byte(started.breaks(string(written))))
				return
			}
			if started.now.Key != nil && *started.now.Key == key {
				response.Response.Items = append(response.Response.Items, externaldata.Item{Key: key, Value: started.now.Value})
			}
		}
		_ = json.NewEncoder(out).Encode(response)
	}))
	return started
}

// broken are answers that are not a clear yes.
var broken = map[string]func(key string) string{
	"nothing":             func(string) string { return "" },
	"no JSON":             func(string) string { return "<html>" },
	"null":                func(string) string { return "null" },
	"an empty object":     func(string) string { return "{}" },
	"a list":              func(string) string { return "[]" },
	"a wrong response":    func(string) string { return `{"response": []}` },
	"no items":            func(string) string { return items("") },
	"an error":            func(key string) string { return items(`{"key": ` + key + `, "error": "no"}`) },
	"another key":         func(string) string { return items(`{"key": "other", "value": {"allowed": true}}`) },
	"no key":              func(string) string { return items(`{"value": {"allowed": true}}`) },
	"no value":            func(key string) string { return items(`{"key": ` + key + `}`) },
	"true":                func(key string) string { return value(key, `true`) },
	"null as value":       func(key string) string { return value(key, `null`) },
	"an empty value":      func(key string) string { return value(key, `{}`) },
	"the text true":       func(key string) string { return value(key, `{"allowed": "true"}`) },
	"the number 1":        func(key string) string { return value(key, `{"allowed": 1}`) },
	"a list in the value": func(key string) string { return value(key, `[{"allowed": true}]`) },
	"no without a word":   func(key string) string { return value(key, `{"allowed": false}`) },
	"one answer too many": func(key string) string {
		return items(item(key, `{"allowed": true}`) + `, ` + item(`"other"`, `{"allowed": true}`))
	},
	"an error beside the answer": func(key string) string {
		return items(item(key, `{"allowed": true}`) + `, {"key": ` + key + `, "error": "no"}`)
	},
	"a fault beside the answer": func(key string) string {
		return `{"response": {"systemError": "busy", "items": [` + item(key, `{"allowed": true}`) + `]}}`
	},
}

func item(key, value string) string  { return fmt.Sprintf(`{"key": %s, "value": %s}`, key, value) }
func value(key, value string) string { return items(item(key, value)) }
func items(items string) string      { return `{"response": {"items": [` + items + `]}}` }
