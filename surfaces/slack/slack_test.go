package slack

import (
	"log/slog"
	"testing"

	"holdfast/engine"
	"holdfast/surfaces/surfacetest"
)

var _ engine.Surface = (*Surface)(nil)

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

func TestSuite(t *testing.T) {
	surfacetest.Run(t, func(t *testing.T) surfacetest.Fake { return newFake(t) })
}
