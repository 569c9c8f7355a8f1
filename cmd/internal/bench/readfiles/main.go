// Command readfiles opens and reads every file of the given directories: the least that a view
// of the sessions has to do.
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	total := 0
	for _, dir := range os.Args[1:] {
		entries, err := os.ReadDir(dir)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		for _, e := range entries {
			b, err := os.ReadFile(filepath.Join(dir, e.Name()))
			if err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			total += len(b)
		}
	}
	fmt.Println(total)
}
