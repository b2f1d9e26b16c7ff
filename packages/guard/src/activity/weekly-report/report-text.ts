import type { WeeklyReport } from './build-report.js';

/**
 * The report as plain text, for mail programs that show no HTML. Written from the report itself: what reads well as a
 * table says little as a column of bare numbers (docs/decisions/0012-react-email.md).
 */
export function reportText(report: WeeklyReport): string {
  const { labels, links, open } = report;
  const blocks = [
    [report.headline, report.period],
    [report.summary],
    report.figures.map(({ label, value, compared }) => `${label}: ${value}${compared === '' ? '' : ` (${compared})`}`),
    [labels.days, ...report.days.map(({ words }) => words)],
    ...report.lists.map(({ title, rows, foot }) => [
      title,
      ...rows.map(({ name, value }) => `- ${name}: ${value}`),
      ...(foot === null ? [] : [foot]),
    ]),
    ...(open === null ? [] : [[open.title, open.names, ...linkLine(labels.setUp, links.setUp)]]),
    ...(report.notes.length === 0 ? [] : [report.notes]),
    [labels.why, ...linkLine(labels.log, links.log), ...linkLine(labels.recipients, links.recipients)],
  ];
  return `${blocks.map((lines) => lines.join('\n')).join('\n\n')}\n`;
}

function linkLine(label: string, href: string | null): string[] {
  return href === null ? [] : [`${label}: ${href}`];
}
