export interface Progress {
  /** Bytes so far and in all; `total` null when the server did not say. */
  readonly update: (done: number, total: number | null) => void;
  readonly end: () => void;
}

type Output = Pick<NodeJS.WriteStream, 'write' | 'isTTY'>;

const barWidth = 30;

/** Shows a download: a bar on a terminal, one line for each further tenth elsewhere (log files, CI). */
export function createProgress(label: string, output: Output, now: () => number = Date.now): Progress {
  return output.isTTY ? terminalBar(label, output, now) : plainLines(label, output);
}

function terminalBar(label: string, output: Output, now: () => number): Progress {
  let last = Number.NEGATIVE_INFINITY;
  let line = '';
  return {
    update(done, total) {
      line = `\r${label} ${barText(done, total)}`;
      if (now() - last < 100) return;
      last = now();
      output.write(line);
    },
    end: () => output.write(`${line}\n`),
  };
}

function plainLines(label: string, output: Output): Progress {
  let shown = -1;
  return {
    update(done, total) {
      if (total === null || total === 0) return;
      const tenth = Math.floor((done / total) * 10);
      if (tenth <= shown) return;
      shown = tenth;
      output.write(`${label} ${tenth * 10}% of ${megabytes(total)}\n`);
    },
    end: () => {},
  };
}

function barText(done: number, total: number | null): string {
  if (total === null || total === 0) return megabytes(done);
  const share = Math.min(1, done / total);
  const full = Math.round(share * barWidth);
  const percent = String(Math.floor(share * 100)).padStart(3);
  return `[${'#'.repeat(full)}${'.'.repeat(barWidth - full)}] ${percent}% of ${megabytes(total)}`;
}

/** Bytes as whole megabytes (10^6), for people. */
function megabytes(bytes: number): string {
  return `${Math.round(bytes / 1e6)} MB`;
}
