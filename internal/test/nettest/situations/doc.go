// Package situations has which addresses of two hosts are joined, in many situations.
package situations
