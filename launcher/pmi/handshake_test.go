// SPDX-License-Identifier: BSD-3-Clause

package pmi

import (
	"io"
	"net"
	"testing"

	"github.com/stretchr/testify/require"
)

var testSecret = [SecretSize]byte{0: 7, 31: 9}

// shake runs both ends of a handshake and returns what each end says.
func shake(t *testing.T, client, server func(conn net.Conn) error) (clientErr, serverErr error) {
	t.Helper()
	c, s := net.Pipe()
	done := make(chan error)
	go func() {
		err := server(s)
		s.Close()
		done <- err
	}()
	clientErr = client(c)
	c.Close()
	return clientErr, <-done
}

func greetAs(secret [SecretSize]byte, pe, npes int) func(net.Conn) error {
	return func(conn net.Conn) error { return greet(conn, secret, pe, npes) }
}

func receiveOf(secret [SecretSize]byte, npes int, got *int) func(net.Conn) error {
	return func(conn net.Conn) error {
		pe, err := receive(conn, secret, npes)
		if err != nil {
			return err
		}
		*got = pe
		_, err = conn.Write(message{op: opWelcome}.encode())
		return err
	}
}

func TestHandshake_BothKnowTheSecret(t *testing.T) {
	pe := -1
	clientErr, serverErr := shake(t, greetAs(testSecret, 3, 4), receiveOf(testSecret, 4, &pe))
	require.NoError(t, clientErr)
	require.NoError(t, serverErr)
	require.Equal(t, 3, pe)
}

func TestHandshake_ClientRefusesAnImpostor(t *testing.T) {
	pe := -1
	other := testSecret
	other[5]++
	clientErr, serverErr := shake(t, greetAs(testSecret, 0, 4), receiveOf(other, 4, &pe))
	require.ErrorIs(t, clientErr, errBadProof)
	require.Error(t, serverErr)
	require.Equal(t, -1, pe)
}

func TestHandshake_SizeOfTheJobIsProved(t *testing.T) {
	pe := -1
	clientErr, _ := shake(t, greetAs(testSecret, 0, 5), receiveOf(testSecret, 4, &pe))
	require.ErrorIs(t, clientErr, errBadProof)
	require.Equal(t, -1, pe)
}

func TestHandshake_PEMustExist(t *testing.T) {
	pe := -1
	_, serverErr := shake(t, greetAs(testSecret, 4, 4), receiveOf(testSecret, 4, &pe))
	require.ErrorContains(t, serverErr, "PE 4 of a job of 4")
	require.Equal(t, -1, pe)
}

// lyingClient sends a hello, and something instead of its proof.
func lyingClient(hello []byte, proof func(reply []byte) []byte) func(net.Conn) error {
	return func(conn net.Conn) error {
		if _, err := conn.Write(hello); err != nil {
			return err
		}
		reply := make([]byte, 64)
		if _, err := io.ReadFull(conn, reply); err != nil {
			return err
		}
		_, err := conn.Write(proof(reply))
		return err
	}
}

func TestHandshake_ServerRefusesFalseProofs(t *testing.T) {
	nonce := make([]byte, nonceSize)
	hello := append([]byte(magic+"\x00\x00\x00\x01"), nonce...)
	proofFor := func(pe uint32, label string, reply []byte) []byte {
		c := challenge{secret: testSecret, npes: 4, pe: pe}
		copy(c.server[:], reply)
		return c.proof(label)
	}
	tests := map[string]func(reply []byte) []byte{
		"zeros":                  func([]byte) []byte { return make([]byte, 32) },
		"the server's own proof": func(reply []byte) []byte { return reply[nonceSize:] },
		"the server's label":     func(reply []byte) []byte { return proofFor(1, serverLabel, reply) },
		"another PE's":           func(reply []byte) []byte { return proofFor(2, clientLabel, reply) },
	}
	for name, proof := range tests {
		pe := -1
		_, serverErr := shake(t, lyingClient(hello, proof), receiveOf(testSecret, 4, &pe))
		require.ErrorIs(t, serverErr, errBadProof, name)
		require.Equal(t, -1, pe, name)
	}
	// The test's own proof is right but for the lie.
	pe := -1
	_, serverErr := shake(t, func(conn net.Conn) error {
		err := lyingClient(hello, func(reply []byte) []byte { return proofFor(1, clientLabel, reply) })(conn)
		io.Copy(io.Discard, conn)
		return err
	}, receiveOf(testSecret, 4, &pe))
	require.NoError(t, serverErr)
	require.Equal(t, 1, pe)
}

func TestHandshake_GarbageIsDroppedAtOnce(t *testing.T) {
	pe := -1
	_, serverErr := shake(t, func(conn net.Conn) error {
		_, err := conn.Write(make([]byte, len(magic)+4+nonceSize))
		return err
	}, receiveOf(testSecret, 4, &pe))
	require.ErrorIs(t, serverErr, errNotOurs)
	require.Equal(t, -1, pe)
}
