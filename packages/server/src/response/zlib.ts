// zlib's functions as promises. `promisify` is not imported for it: with `node:util` Node opens the stream of errors, which
// takes a hundredth of a start.
import { type BrotliOptions, brotliCompress, gzip } from "node:zlib";

type Bytes = string | Uint8Array;

export function gzipped(given: Bytes): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    gzip(given, (error, result) => (error === null ? resolve(result) : reject(error)));
  });
}

export function brotlied(given: Bytes, options: BrotliOptions): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    brotliCompress(given, options, (error, result) => (error === null ? resolve(result) : reject(error)));
  });
}
