package main

import "context"

func (c *cluster) measureBindings(ctx context.Context) error { return nil }
