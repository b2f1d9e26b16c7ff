import { portIsFree } from '../process/free-port.js';

const firstPort = 8080;
const lastPort = 8180;

/** The port to listen on: the one asked for, which must be free, else the first free one from 8080. */
export async function choosePort(host: string, asked: number | null): Promise<number> {
  if (asked !== null) {
    if (await isFree(host, asked)) return asked;
    throw new Error(`Port ${asked} on ${host} is in use by another program. Name another one with --port.`);
  }
  for (let port = firstPort; port <= lastPort; port += 1) {
    if (await isFree(host, port)) return port;
  }
  throw new Error(`All ports from ${firstPort} to ${lastPort} on ${host} are in use. Name one with --port.`);
}

async function isFree(host: string, port: number): Promise<boolean> {
  try {
    return await portIsFree(host, port);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'EACCES') throw new Error(`Port ${port} may only be used by the superuser. Name another with --port.`);
    throw new Error(`Cannot listen on ${host} (${code}). Name an address of this machine with --host.`);
  }
}
