import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Root of the project. Guides name files relative to it. */
export const projectDir = fileURLToPath(new URL('../../../../../', import.meta.url));

/** A command of a guide, with the step that it belongs to. */
export interface GuideCommand {
  /** For example `README.md, step 3`. */
  readonly step: string;
  /** The text of the command, with its lines joined. */
  readonly command: string;
}

/**
 * The commands in the fenced shell blocks of a section, in order. A line that ends with a backslash continues on the
 * next one.
 *
 * @param file path in the project
 * @param heading text of the section's heading
 */
export function readGuide(file: string, heading: string): readonly GuideCommand[] {
  const lines = readFileSync(`${projectDir}/${file}`, 'utf8').split('\n');
  const from = lines.indexOf(`## ${heading}`);
  if (from === -1) throw new Error(`${file} has no section ${heading}.`);
  const to = lines.findIndex((line, at) => at > from && line.startsWith('## '));
  return parseCommands(file, lines.slice(from + 1, to === -1 ? undefined : to), (step, text) => {
    // A block that is not shell would be skipped unnoticed.
    if (text !== '```sh') throw new Error(`${step} has a block that is not of commands: ${text}`);
  });
}

/**
 * The commands in the fenced shell blocks between a heading of any level and the next heading of any level, in order.
 * Blocks of other languages are left out.
 *
 * @param file path in the project
 * @param heading text of the heading
 */
export function readSectionCommands(file: string, heading: string): readonly GuideCommand[] {
  const lines = readFileSync(`${projectDir}/${file}`, 'utf8').split('\n');
  const from = lines.findIndex((line) => /^#{2,4} /.test(line) && line.replace(/^#+ /, '') === heading);
  let isFenced = false;
  const to = lines.findIndex((line, at) => {
    if (at > from && line.trim().startsWith('```')) isFenced = !isFenced;
    return at > from && !isFenced && /^#{2,4} /.test(line);
  });
  const commands = parseCommands(file, from === -1 ? [] : lines.slice(from + 1, to === -1 ? undefined : to));
  if (commands.length === 0) throw new Error(`${file} has no commands below “${heading}”.`);
  return commands;
}

/** @param onBlock receives each beginning of a block, with its step */
function parseCommands(
  file: string,
  lines: readonly string[],
  onBlock: (step: string, text: string) => void = () => {},
): readonly GuideCommand[] {
  const commands: GuideCommand[] = [];
  let step = `${file}, before the first step`;
  let block: string | null = null;
  let begun = '';
  for (const line of lines) {
    const number = /^(\d+)\. /.exec(line)?.[1];
    if (number !== undefined && block === null) step = `${file}, step ${number}`;
    const text = line.trim();
    if (text.startsWith('```')) {
      if (block === null) onBlock(step, text);
      block = block === null ? text : null;
    } else if (block === '```sh') {
      begun += text.replace(/\\$/, '');
      if (text.endsWith('\\')) continue;
      commands.push({ step, command: begun.replace(/\s+/g, ' ') });
      begun = '';
    }
  }
  return commands;
}

/**
 * The blocks of a language below a heading of docs/operator/operations.md, in order and without the indentation of a list.
 * `packages/guard/test/guides.test.ts` lists the ones that a suite uses.
 *
 * @param heading its text, at any level
 * @throws when there is none
 */
export function guideBlocks(heading: string, language: 'nginx' | 'apache'): readonly string[] {
  const text = readFileSync(`${projectDir}/docs/operator/operations.md`, 'utf8');
  const section = new RegExp(`^#{2,3} ${heading}\n([\\s\\S]*?)(?=^#{2,3} |(?![\\s\\S]))`, 'm').exec(text)?.[1] ?? '';
  const found = [...section.matchAll(/^( *)```(\w+)\n([\s\S]*?)^ *```$/gm)];
  const blocks = found.flatMap(([, indent = '', kind, block = '']) =>
    kind === language ? [block.replace(new RegExp(`^${indent}`, 'gm'), '')] : [],
  );
  if (blocks.length === 0) throw new Error(`The guide has no block of ${language} below “${heading}”.`);
  return blocks;
}

/** Replaces each key of the table in the text by its value. */
export function replaceAll(text: string, table: Readonly<Record<string, string>>): string {
  // Longer names first, since they may contain shorter ones.
  const names = Object.keys(table).sort((a, b) => b.length - a.length);
  const pattern = new RegExp(names.map((name) => name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|'), 'g');
  return text.replace(pattern, (name) => table[name] as string);
}

/** The usual nginx server block of a WordPress, on port 443, with the names of the guides, before their first step. */
export function serverBefore(host: string): string {
  return `server {
  listen 443 ssl;
  server_name ${host};
  ssl_certificate /etc/ssl/${host}.crt;
  ssl_certificate_key /etc/ssl/private/${host}.key;
  root /srv/www/${host};
  index index.php;
  location / {
    try_files $uri $uri/ /index.php?$args;
  }
  location ~ \\.php$ {
    include fastcgi.conf;
    fastcgi_pass unix:/run/php/php-fpm.sock;
  }
}
`;
}

/** The main configuration, which includes `conf.d` beside it and writes only to the folder. */
export function frontConfig(dir: string): string {
  return `${process.getuid?.() === 0 ? 'user root;\n' : ''}worker_processes 2;
daemon off;
pid "${dir}/run/front.pid";
error_log stderr warn;
events { worker_connections 1024; }
http {
  include mime.types;
  access_log off;
  client_body_temp_path "${dir}/tmp/front-body";
  proxy_temp_path "${dir}/tmp/front-proxy";
  fastcgi_temp_path "${dir}/tmp/front-fastcgi";
  uwsgi_temp_path "${dir}/tmp/front-uwsgi";
  scgi_temp_path "${dir}/tmp/front-scgi";
  include conf.d/*.conf;
}
`;
}
