//go:build !linux

package main

import (
	"errors"
	"io"
)

func watchReport(string, []string, int, io.Writer) error {
	return errors.New("watch is measured on Linux")
}

func fleetReport(string, int, string, io.Writer) error {
	return errors.New("a fleet is measured on Linux")
}

func modelReport(string, io.Writer) error { return errors.New("a fleet is measured on Linux") }
