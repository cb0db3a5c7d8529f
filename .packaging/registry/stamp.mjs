// stamp VERSION BUNDLE: prints the registry's entry of that version, with the checksum of the bundle.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';

const [version, bundle] = process.argv.slice(2);
const entry = JSON.parse(readFileSync(new URL('server.json', import.meta.url), 'utf8').replaceAll('0.0.0', version));
const item = entry.packages.find((each) => each.registryType === 'mcpb');
if (basename(item.identifier) !== basename(bundle)) throw new Error(`the entry names ${item.identifier}, not ${bundle}`);
item.fileSha256 = createHash('sha256').update(readFileSync(bundle)).digest('hex');
console.log(JSON.stringify(entry, null, 2));
