// SPDX-License-Identifier: BSD-3-Clause

package pmi

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// The handshake is mutual challenge and response: each end sends a nonce and
// proves with an HMAC over both nonces that it knows the job's secret.
//
//	client → server   magic, PE (4 bytes), client's nonce
//	server → client   server's nonce, HMAC("server", …)
//	client → server   HMAC("client", …)
//	server → client   a message: opWelcome or opRefused
//
// The directions have different labels, so neither proof can be played back as
// the other; the PE's number and the job's size are inside, so a proof for one
// PE is none for another. All messages but the last have a fixed size, and
// nothing that a stranger sends is ever used as a length.
//
// The welcome makes sure that the server knows of the PE before the PE goes on:
// one that then leaves without Finalize is told from a program that never came.
const (
	magic     = "goshmem1"
	nonceSize = 32

	// SecretSize is the length of a job's secret in bytes.
	SecretSize = 32

	clientLabel = "gorun bootstrap, client"
	serverLabel = "gorun bootstrap, server"
)

var (
	errNotOurs  = errors.New("it does not speak our protocol")
	errBadProof = errors.New("it does not know the job's secret")
)

// A refusal is what the server of our job says instead of opWelcome.
type refusal string

func (r refusal) Error() string { return string(r) }

type challenge struct {
	secret [SecretSize]byte
	npes   int
	pe     uint32
	client [nonceSize]byte
	server [nonceSize]byte
}

func (c *challenge) proof(label string) []byte {
	h := hmac.New(sha256.New, c.secret[:])
	h.Write([]byte(label))
	var n [12]byte
	binary.BigEndian.PutUint32(n[:], c.pe)
	binary.BigEndian.PutUint64(n[4:], uint64(c.npes))
	h.Write(n[:])
	h.Write(c.client[:])
	h.Write(c.server[:])
	return h.Sum(nil)
}

// greet is the client's side of the handshake.
func greet(conn io.ReadWriter, secret [SecretSize]byte, pe, npes int) error {
	c := challenge{secret: secret, npes: npes, pe: uint32(pe)}
	rand.Read(c.client[:]) // never fails
	hello := append([]byte(magic), binary.BigEndian.AppendUint32(nil, c.pe)...)
	if _, err := conn.Write(append(hello, c.client[:]...)); err != nil {
		return err
	}
	var reply [nonceSize + sha256.Size]byte
	if _, err := io.ReadFull(conn, reply[:]); err != nil {
		return err
	}
	copy(c.server[:], reply[:])
	if !hmac.Equal(reply[nonceSize:], c.proof(serverLabel)) {
		return errBadProof
	}
	if _, err := conn.Write(c.proof(clientLabel)); err != nil {
		return err
	}
	m, err := readMessage(conn, 1+MaxMessage)
	switch {
	case err != nil:
		return err
	case m.op == opRefused:
		return refusal(m.payload)
	case m.op != opWelcome:
		return fmt.Errorf("op %d for a welcome: %w", m.op, errNotOurs)
	}
	return nil
}

// receive is the server's side of the handshake up to the client's proof. It
// returns the PE that the client has proved to be.
func receive(conn io.ReadWriter, secret [SecretSize]byte, npes int) (pe int, err error) {
	c := challenge{secret: secret, npes: npes}
	var hello [len(magic) + 4 + nonceSize]byte
	if _, err := io.ReadFull(conn, hello[:]); err != nil {
		return 0, err
	}
	if string(hello[:len(magic)]) != magic {
		return 0, fmt.Errorf("hello %q: %w", hello[:len(magic)], errNotOurs)
	}
	c.pe = binary.BigEndian.Uint32(hello[len(magic):])
	copy(c.client[:], hello[len(magic)+4:])
	rand.Read(c.server[:]) // never fails
	if _, err := conn.Write(append(c.server[:], c.proof(serverLabel)...)); err != nil {
		return 0, err
	}
	var proof [sha256.Size]byte
	if _, err := io.ReadFull(conn, proof[:]); err != nil {
		return 0, err
	}
	if !hmac.Equal(proof[:], c.proof(clientLabel)) {
		return 0, errBadProof
	}
	if int64(c.pe) >= int64(npes) {
		return 0, fmt.Errorf("PE %d of a job of %d", c.pe, npes)
	}
	return int(c.pe), nil
}
