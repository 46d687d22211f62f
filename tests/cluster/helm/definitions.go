// Package definitions keeps cert-manager in go.mod: the cluster tests apply the custom resources that it defines.
package definitions

import _ "github.com/cert-manager/cert-manager/pkg/apis/meta/v1"
