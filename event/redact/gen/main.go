// Command gen writes the table of package redact, in whose directory it runs.
package main

import (
	"log"
	"os"

	"beckon/event/redact/rules"
)

func main() {
	all, err := rules.Load()
	if err != nil {
		log.Fatal(err)
	}
	table, err := rules.Compile(all)
	if err != nil {
		log.Fatal(err)
	}
	source, err := table.Source()
	if err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile("table.go", source, 0o644); err != nil {
		log.Fatal(err)
	}
}
