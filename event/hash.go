package event

import (
	"encoding/binary"
	"math/bits"
	"strconv"
	"unsafe"
)

const (
	hashA = 0xa0761d6478bd642f
	hashB = 0xe7037ed1a0b428db
)

// hashOf returns a 64-bit hash of s as 16 hexadecimal digits: the same on every machine, and in
// every version, since session files and history contain it. It distinguishes the inputs of
// calls. It multiplies 16 bytes at a time into a 128-bit product and folds that (the scheme of
// wyhash), in four lanes that the processor can do in parallel; it resists chance, not malice.
// xxhash is not faster (12 against 14 GB/s, and 40 to 60 ns for 300 bytes either way).
func hashOf(s string) string {
	var lanes [4]uint64
	block := func(p []byte) {
		for i := range lanes {
			lanes[i] = mix(lanes[i], binary.LittleEndian.Uint64(p[16*i:]), binary.LittleEndian.Uint64(p[16*i+8:]))
		}
	}
	p := unsafe.Slice(unsafe.StringData(s), len(s)) // which is only read
	for ; len(p) >= 64; p = p[64:] {
		block(p)
	}
	var rest [64]byte
	copy(rest[:], p)
	block(rest[:])
	n := uint64(len(s))
	h := n
	for _, lane := range lanes {
		h = mix(h, lane, hashA)
	}
	hex := strconv.FormatUint(mix(h, h, n), 16)
	return "0000000000000000"[len(hex):] + hex
}

// mix folds 16 bytes into h.
func mix(h, x, y uint64) uint64 {
	hi, lo := bits.Mul64(x^hashA, y^h^hashB)
	return hi ^ lo
}
