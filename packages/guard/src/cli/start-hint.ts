import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const UNIT = 'security-optimizer.service';

/** Where systemd keeps units, in its order of precedence (systemd.unit(5)). */
const UNIT_FOLDERS = ['/etc/systemd/system', '/run/systemd/system', '/usr/lib/systemd/system', '/lib/systemd/system'];

/** What starts services on a machine. */
interface ServiceManager {
  /** Whether systemd runs this machine (sd_booted(3)). */
  readonly hasSystemd: boolean;
  readonly unitFolders: readonly string[];
}

function thisMachine(): ServiceManager {
  return { hasSystemd: existsSync('/run/systemd/system'), unitFolders: UNIT_FOLDERS };
}

/** A line for people: how guard is started on this machine with a data folder. */
export function describeStart(dataDir: string, machine: ServiceManager = thisMachine()): string {
  const command = isRunByUnit(resolve(dataDir), machine)
    ? 'systemctl start security-optimizer'
    : `security-optimizer serve --data-dir ${dataDir}`;
  return `Start guard: ${command}\n`;
}

/** Whether systemd has a unit that runs guard on this data folder. The first file of that name is the one in force. */
function isRunByUnit(dataDir: string, { hasSystemd, unitFolders }: ServiceManager): boolean {
  const file = unitFolders.map((folder) => join(folder, UNIT)).find((path) => existsSync(path));
  if (!hasSystemd || file === undefined) return false;
  try {
    const named = /^ExecStart=.*\s--data-dir[\s=](\S+)/m.exec(readFileSync(file, 'utf8'))?.[1];
    return named !== undefined && resolve(named) === dataDir;
  } catch {
    return false;
  }
}
