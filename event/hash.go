package event

import "math/bits"

// hash is a running 64-bit hash of bytes: the same bytes give the same value
// on every machine, in every process and however they are split over writes.
// It multiplies 16 bytes at a time into a 128-bit product and folds that (the
// scheme of wyhash), at a few bytes per cycle; it resists chance, not malice.
// It tells tool inputs apart and names what an elision left out.
type hash struct {
	h    uint64
	n    uint64
	rest [16]byte // the last n%16 bytes
}

const (
	hashA = 0xa0761d6478bd642f
	hashB = 0xe7037ed1a0b428db
)

func (s *hash) write(p []byte) {
	have := int(s.n % 16)
	s.n += uint64(len(p))
	if have > 0 {
		k := copy(s.rest[have:], p)
		p = p[k:]
		if have+k < len(s.rest) {
			return
		}
		s.h = mix(s.h, s.rest[:])
	}
	h := s.h
	for len(p) >= 16 {
		h = mix(h, p[:16])
		p = p[16:]
	}
	s.h = h
	copy(s.rest[:], p)
}

func (s *hash) sum() uint64 {
	last := s.rest
	clear(last[s.n%16:])
	h := mix(s.h, last[:])
	hi, lo := bits.Mul64(h^hashB, s.n^hashA)
	return hi ^ lo
}

// mix folds 16 bytes into h.
func mix(h uint64, p []byte) uint64 {
	hi, lo := bits.Mul64(load64(p)^hashA, load64(p[8:])^h^hashB)
	return hi ^ lo
}

// load64 reads 8 bytes, the first the lowest; the compiler makes it one load.
func load64(p []byte) uint64 {
	_ = p[7]
	return uint64(p[0]) | uint64(p[1])<<8 | uint64(p[2])<<16 | uint64(p[3])<<24 |
		uint64(p[4])<<32 | uint64(p[5])<<40 | uint64(p[6])<<48 | uint64(p[7])<<56
}

// hashOf returns the hash of s as 16 hexadecimal digits.
func hashOf(s string) string {
	var h hash
	var chunk [512]byte
	for len(s) > 0 {
		n := copy(chunk[:], s)
		h.write(chunk[:n])
		s = s[n:]
	}
	return string(appendHex(nil, h.sum()))
}

// appendHex appends n as 16 hexadecimal digits.
func appendHex(dst []byte, n uint64) []byte {
	for shift := 60; shift >= 0; shift -= 4 {
		dst = append(dst, "0123456789abcdef"[n>>shift&15])
	}
	return dst
}
