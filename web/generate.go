package web

//go:generate go run ./ui/build
