package trust

import "os"

func read(path string) ([]byte, error) { return os.ReadFile(path) }
