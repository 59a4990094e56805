// Writes the hash of everything that the build reads to dist/sources.sha256. A Go test computes it
// again (sources_test.go), and so finds a forgotten build without Node.js.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';

process.chdir(import.meta.dirname);
const sha256 = (content) => createHash('sha256').update(content).digest('hex');

const inFolder = (folder) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => `${entry.parentPath}/${entry.name}`);
const beside = readdirSync('.', { withFileTypes: true })
  .filter((entry) => entry.isFile() && !entry.name.endsWith('.go'))
  .map((entry) => entry.name);
const files = [...inFolder('app'), ...inFolder('graphiql'), ...inFolder('shared'), ...beside, '../schema.graphqls'].sort();
const list = files.map((file) => `${sha256(readFileSync(file))}  ${file}\n`).join('');
writeFileSync('dist/sources.sha256', sha256(list) + '\n');
