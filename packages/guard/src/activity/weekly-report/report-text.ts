import type { WeeklyReport } from './build-report.js';
import { count } from './compare-words.js';

/** The report as plain text, for mail programs that show no HTML. */
export function reportText(report: WeeklyReport): string {
  const { links, open } = report;
  const blocks = [
    [report.headline, report.period],
    [report.summary],
    report.figures.map(
      ({ label, value, compared }) => `${label}: ${value}${compared === '' ? '' : ` (${lower(compared)})`}`,
    ),
    ['Day by day', ...report.days.map(dayLine)],
    ...report.lists.map(({ title, rows, foot }) => [
      title,
      ...rows.map(({ name, value }) => `- ${name}: ${value}`),
      ...(foot === null ? [] : [foot]),
    ]),
    ...(open === null
      ? []
      : [[open.title, open.names, ...(links.setUp === null ? [] : [`Finish the set-up: ${links.setUp}`])]]),
    ...(report.notes.length === 0 ? [] : [report.notes]),
    [
      `You get this report because your address is on the list for ${report.site}.`,
      ...(links.log === null ? [] : [`Activity log: ${links.log}`]),
      ...(links.recipients === null ? [] : [`Change the recipients: ${links.recipients}`]),
    ],
  ];
  return `${blocks.map((lines) => lines.join('\n')).join('\n\n')}\n`;
}

function dayLine({ name, humans, bots, blocked }: WeeklyReport['days'][number]): string {
  return `${name}: ${count(humans)} humans, ${count(bots)} bots, ${count(blocked)} blocked`;
}

function lower(words: string): string {
  return words.charAt(0).toLowerCase() + words.slice(1);
}
