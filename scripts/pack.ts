// Builds every package and packs it into a folder; the last line that it prints is where the tarball of each one is, as JSON.
import path from "node:path";
import { buildPackages, pack, published } from "./packages.ts";

const [, , destination] = process.argv;
if (destination === undefined) throw new Error("node scripts/pack.ts <folder>");
buildPackages();
const tarballs = published.map((folder) => [path.basename(folder), pack(folder, path.resolve(destination))]);
console.log(JSON.stringify(Object.fromEntries(tarballs)));
