// The image without Docker: what the Dockerfile says, carried out in a folder. It knows the instructions that are used.
import { execFileSync } from 'node:child_process';
import { chownSync, cpSync, existsSync, mkdirSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { DockerfileParser } from 'dockerfile-ast';

const repository = fileURLToPath(new URL('../..', import.meta.url));
export const dockerfile = readFileSync(new URL('Dockerfile', import.meta.url), 'utf8');

// sourceTree copies what COPY . . would: the files of the repository, changed or not, and none that git ignores.
function sourceTree(to) {
  const files = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: repository, encoding: 'utf8' });
  for (const file of files.split('\0').filter((file) => file && existsSync(join(repository, file)))) {
    mkdirSync(join(to, dirname(file)), { recursive: true });
    cpSync(join(repository, file), join(to, file));
  }
}

// build makes the image under scratch and returns it: {root, env, user, entrypoint, cmd, health, volume}. The absolute paths
// of the build stage are those of the folder build there.
export function build(scratch) {
  const stages = [];
  for (const instruction of DockerfileParser.parse(dockerfile).getInstructions()) {
    if (instruction.getKeyword() === 'FROM') stages.push([]);
    stages.at(-1).push(instruction);
  }
  const [building, final] = stages;
  const stage = join(scratch, 'build');
  const source = join(stage, 'src');
  sourceTree(source);
  const processor = { x64: 'amd64', arm64: 'arm64' }[process.arch];
  for (const run of building.filter((each) => each.getKeyword() === 'RUN')) {
    const command = run.getArgumentsContent().replaceAll('/out/', `${stage}/out/`);
    execFileSync('/bin/sh', ['-c', command], { cwd: source, stdio: 'inherit',
      env: { ...process.env, VERSION: '0.0.1-check', TARGETOS: 'linux', TARGETARCH: processor } });
  }
  return assemble(final, stage, join(scratch, 'root'));
}

function assemble(instructions, stage, root) {
  const image = { root, env: {} };
  for (const each of instructions) {
    const json = () => JSON.parse(each.getArgumentsContent().match(/\[.*\]$/)[0]);
    switch (each.getKeyword()) {
      case 'FROM': image.base = each.getImage(); break;
      case 'ENV': for (const pair of each.getProperties()) image.env[pair.getName()] = pair.getValue(); break;
      case 'USER': image.user = each.getArgumentsContent(); break;
      case 'VOLUME': [image.volume] = json(); break;
      case 'ENTRYPOINT': image.entrypoint = json(); break;
      case 'CMD': image.cmd = json(); break;
      case 'HEALTHCHECK': image.health = json(); break;
      case 'COPY': copy(each, stage, root); break;
      case 'LABEL': case 'EXPOSE': break;
      default: throw new Error(`${each.getKeyword()} is not carried out here`);
    }
  }
  return image;
}

function copy(instruction, stage, root) {
  const [from, to] = instruction.getArguments().map((argument) => argument.getValue());
  // Certificates come with the base image of the build stage; here they are those of this machine.
  const source = from.startsWith('/out/') ? join(stage, from) : from;
  cpSync(source, join(root, to), { recursive: true });
  const owner = instruction.getFlags().find((flag) => flag.getName() === 'chown')?.getValue();
  if (owner) for (const name of readdirSync(source)) chownSync(join(root, to, name), ...owner.split(':').map(Number));
}
