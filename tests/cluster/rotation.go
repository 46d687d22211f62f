package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"math/big"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// rotation replaces the serving pair while requests come, over Gatekeeper and over connections of our own.
func (c *cluster) rotation(ctx context.Context) error {
	loaded, stop := context.WithCancel(ctx)
	defer stop()
	var count atomic.Int64
	var group sync.WaitGroup
	failures := make(chan error, 16)
	drive := func(ask func(number int64) error) {
		group.Add(1)
		go func() {
			defer group.Done()
			for loaded.Err() == nil {
				number := count.Add(1)
				if err := ask(number); err != nil {
					select {
					case failures <- fmt.Errorf("request %d: %w", number, err):
					default:
					}
					return
				}
			}
		}()
	}
	for range 2 {
		// Each request another question: none is answered from Gatekeeper's cache.
		drive(func(number int64) error {
			seconds := fmt.Sprintf("tolerationSeconds: -%d", number)
			toleration := strings.Replace(allowedToleration, "tolerationSeconds: 60", seconds, 1)
			return c.api.create(ctx, pod(fmt.Sprintf("load-%d", number), toleration), true)
		})
	}
	drive(func(int64) error {
		_, err := c.provider.serialNumber(c)
		return err
	})
	check := func() error {
		select {
		case err := <-failures:
			return err
		default:
			return nil
		}
	}
	err := errors.Join(c.rotate(ctx, &count), c.rotate(ctx, &count))
	stop()
	group.Wait()
	return errors.Join(err, check())
}

// rotate replaces the pair, waits until new connections get it, and until some requests came after that.
func (c *cluster) rotate(ctx context.Context, count *atomic.Int64) error {
	at := func(wanted int64) error {
		return eventually(ctx, "requests keep coming", c.provider.process, func() error {
			if now := count.Load(); now < wanted {
				return fmt.Errorf("%d of %d", now, wanted)
			}
			return nil
		})
	}
	if err := at(count.Load() + 20); err != nil {
		return err
	}
	fresh, err := c.provider.authority.issue(c.file("provider"), serving)
	if err != nil {
		return err
	}
	if err := eventually(ctx, "the new certificate is served", c.provider.process, func() error {
		served, err := c.provider.serialNumber(c)
		if err == nil && served.Cmp(fresh) != 0 {
			err = fmt.Errorf("certificate %v is served, not %v", served, fresh)
		}
		return err
	}); err != nil {
		return err
	}
	return at(count.Load() + 20)
}

// serialNumber of the certificate that a new connection gets, made as Gatekeeper makes it.
func (p *provider) serialNumber(c *cluster) (*big.Int, error) {
	own, err := tls.LoadX509KeyPair(c.file("gatekeeper/tls.crt"), c.file("gatekeeper/tls.key"))
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(p.authority.pem)
	dialer := &tls.Dialer{Config: &tls.Config{
		MinVersion: tls.VersionTLS13, RootCAs: roots, Certificates: []tls.Certificate{own},
	}}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	connection, err := dialer.DialContext(ctx, "tcp", fmt.Sprintf("127.0.0.1:%d", p.port))
	if err != nil {
		return nil, err
	}
	defer connection.Close()
	deadline := time.Now().Add(10 * time.Second)
	if err := connection.SetDeadline(deadline); err != nil {
		return nil, err
	}
	// A handshake of TLS 1.3 ends on this side before the other has looked at the certificate: so a question is asked.
	body := `{"apiVersion":"externaldata.gatekeeper.sh/v1beta1","kind":"ProviderRequest","request":{"keys":["no key"]}}`
	request := "POST /v1/query HTTP/1.1\r\nHost: it\r\nConnection: close\r\nContent-Type: application/json\r\n" +
		fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body)
	if _, err := connection.Write([]byte(request)); err != nil {
		return nil, err
	}
	status := make([]byte, len("HTTP/1.1 200"))
	if _, err := connection.Read(status); err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		return nil, err
	}
	if string(status) != "HTTP/1.1 200" {
		return nil, fmt.Errorf("answered %q", status)
	}
	return connection.(*tls.Conn).ConnectionState().PeerCertificates[0].SerialNumber, nil
}
