// zlib's functions as promises, without `promisify`: `node:util` opens standard error, a hundredth of a start.
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
