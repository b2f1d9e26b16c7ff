import type { CSSProperties, ReactNode } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { Button, Row } from '../mail/elements.js';
import { HouseMail, MailHead, Part } from '../mail/house-mail.js';
import { colours, styles } from '../mail/mail-styles.js';
import type {
  ReportDay,
  ReportFigure,
  ReportLabels,
  ReportLinks,
  ReportList,
  ReportTask,
  WeeklyReport,
} from './build-report.js';

/**
 * Renders a report as HTML for mail clients: tables and inline styles, 600 pixels wide, without images or external
 * resources. React escapes every text.
 */
export function renderReport(report: WeeklyReport): string {
  return `<!DOCTYPE html>${renderToStaticMarkup(<Document report={report} />)}`;
}

function Document({ report }: { readonly report: WeeklyReport }): ReactNode {
  return (
    <HouseMail lang={report.tag} dir={report.direction} title={report.subject} preview={report.summary}>
      <Card report={report} />
    </HouseMail>
  );
}

function Card({ report }: { readonly report: WeeklyReport }): ReactNode {
  const { direction, labels, links } = report;
  const end = direction === 'rtl' ? 'left' : 'right';
  const urgent = report.tasks.filter((task) => task.urgent);
  const others = report.tasks.filter((task) => !task.urgent);
  return (
    <>
      <MailHead dir={direction} date={report.period} headline={report.headline} lead={report.summary} />
      {urgent.map((task) => (
        <TaskPanel key={task.title} task={task} />
      ))}
      <Part top={24}>
        <Figures figures={report.figures} />
      </Part>
      <DayChart days={report.days} labels={labels} />
      {report.lists.map((list) => (
        <List key={list.title} list={list} end={end} />
      ))}
      {others.map((task) => (
        <TaskPanel key={task.title} task={task} asLink={urgent.length > 0} />
      ))}
      <Part top={32} bottom={32}>
        <Footer notes={report.notes} labels={labels} links={links} />
      </Part>
    </>
  );
}

/** The figures, two in a row. */
function Figures({ figures }: { readonly figures: readonly ReportFigure[] }): ReactNode {
  const pairs = figures.flatMap((figure, index) =>
    index % 2 === 0 ? [[figure, ...figures.slice(index + 1, index + 2)]] : [],
  );
  return pairs.map((pair, index) => (
    <Row key={pair[0]?.label} style={{ borderCollapse: 'collapse' }}>
      {pair.map(({ value, label, link, compared }) => (
        <td
          key={label}
          className="figure"
          width="50%"
          style={index === 0 ? styles.figure : { ...styles.figure, borderTop: 0 }}
        >
          <p className="ink" style={styles.figureValue}>
            <MaybeLink href={link} className="ink">
              {value}
            </MaybeLink>
          </p>
          <p className="soft" style={styles.small}>
            {label}
          </p>
          {compared === '' ? null : (
            <p className="faint" style={styles.tiny}>
              {compared}
            </p>
          )}
        </td>
      ))}
    </Row>
  ));
}

/** A list with names at the beginning of the lines and numbers at their ends. */
function List({ list, end }: { readonly list: ReportList; readonly end: 'left' | 'right' }): ReactNode {
  const gap: CSSProperties = end === 'right' ? { paddingRight: 12 } : { paddingLeft: 12 };
  return (
    <Part top={32}>
      <h2 className="ink" style={{ ...styles.h2, margin: '0 0 8px' }}>
        {list.title}
      </h2>
      {list.rows.map(({ name, value, link }, index) => {
        const cell: CSSProperties = {
          ...(index === 0 ? {} : { borderTop: `1px solid ${colours.hair}` }),
          ...{ paddingTop: 10, paddingBottom: 10 },
        };
        const textStyle = list.mono ? styles.mono : { ...styles.small, color: colours.ink };
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: rows of one mail; two cut names may be the same
          <Row key={index}>
            <td className="ink edge" style={{ ...textStyle, ...cell, ...gap, wordBreak: 'break-word' }}>
              <MaybeLink href={link} className="ink">
                {list.mono ? <span dir="ltr">{name}</span> : name}
              </MaybeLink>
            </td>
            <td className="soft edge" align={end} style={{ ...styles.small, ...cell, whiteSpace: 'nowrap' }}>
              {value}
            </td>
          </Row>
        );
      })}
      {list.footer === null ? null : (
        <p className="faint" style={{ ...styles.tiny, margin: '4px 0 0' }}>
          {list.footer}
        </p>
      )}
    </Part>
  );
}

/** A link that looks like the text around it; plain text when there is no URL. */
function MaybeLink(props: {
  readonly href: string | null;
  readonly className: string;
  readonly children: ReactNode;
}): ReactNode {
  const { href, className, children } = props;
  if (href === null) return children;
  return (
    <a href={href} className={className} target="_blank" rel="noopener" style={styles.quietLink}>
      {children}
    </a>
  );
}

/** A task with a link to the page where it is done. A mail has one button: that of the most urgent task. */
function TaskPanel(props: { readonly task: ReportTask; readonly asLink?: boolean }): ReactNode {
  const { task, asLink = false } = props;
  const { title, text, button, link, urgent, kind } = task;
  return (
    <Part top={urgent ? 24 : 32}>
      <Row className={kind === 'check' ? 'warn' : 'panel'} style={kind === 'check' ? styles.warnPanel : styles.panel}>
        <td style={{ padding: '20px 24px' }}>
          <h2 className="ink" style={styles.h2}>
            {title}
          </h2>
          <p className="soft" style={{ ...styles.small, margin: '4px 0 0', wordBreak: 'break-word' }}>
            {text}
          </p>
          {link === null ? null : (
            <p style={{ ...styles.small, margin: '16px 0 0' }}>
              {asLink ? (
                <a href={link} className="brand" style={styles.link} target="_blank" rel="noopener">
                  {button}
                </a>
              ) : (
                <Button className="button" href={link} style={styles.button} padding={{ y: 12, x: 20 }}>
                  {button}
                </Button>
              )}
            </p>
          )}
        </td>
      </Row>
    </Part>
  );
}

/** Why the reader gets this mail, and how to change that. */
function Footer(props: {
  readonly notes: readonly string[];
  readonly labels: ReportLabels;
  readonly links: ReportLinks;
}): ReactNode {
  const { notes, labels, links } = props;
  const ways = [
    { href: links.log, label: labels.log },
    { href: links.recipients, label: labels.recipients },
  ].filter(({ href }) => href !== null);
  return (
    <>
      <p className="faint" style={styles.tiny}>
        {[...notes, labels.why].join(' ')}
      </p>
      {ways.length === 0 ? null : (
        <p className="faint" style={styles.tiny}>
          {ways.map(({ href, label }, index) => (
            <span key={label}>
              {index === 0 ? null : ' · '}
              <a target="_blank" className="brand" href={href as string} style={styles.link} rel="noopener">
                {label}
              </a>
            </span>
          ))}
        </p>
      )}
    </>
  );
}

const CHART_PX = 90;
const BAR_PX = 28;
/** From top to bottom. */
const STACK = ['blocked', 'bots', 'humans'] as const;
const LEGEND = ['humans', 'bots', 'blocked'] as const;

/** A bar chart of table cells with a background, which every mail client can render. */
function DayChart(props: { readonly days: readonly ReportDay[]; readonly labels: ReportLabels }): ReactNode {
  const { days, labels } = props;
  const highest = Math.max(...days.map((day) => day.humans + day.bots + day.blocked), 0);
  if (highest === 0) return null;
  const width = `${(100 / days.length).toFixed(2)}%`;
  const name = { ...styles.tiny, lineHeight: '16px', paddingTop: 8, borderTop: `1px solid ${colours.line}` };
  return (
    <Part top={32}>
      <h2 className="ink" style={{ ...styles.h2, margin: '0 0 16px' }}>
        {labels.days}
      </h2>
      <Row>
        {days.map((day) => (
          <td key={day.name} align="center" valign="bottom" height={CHART_PX + 8} width={width}>
            <Bar day={day} highest={highest} />
          </td>
        ))}
      </Row>
      <Row>
        {days.map((day) => (
          <td key={day.name} className="faint edge" align="center" width={width} style={name}>
            {day.name}
          </td>
        ))}
      </Row>
      <p className="soft" style={{ ...styles.tiny, color: colours.soft, margin: '12px 0 0' }}>
        {LEGEND.map((what) => (
          <span key={what} style={{ whiteSpace: 'nowrap' }}>
            <span className={`${what}-ink`} style={{ color: colours[what] }}>
              ■
            </span>
            {` ${labels[what]} \u00a0\u00a0 `}
          </span>
        ))}
      </p>
    </Part>
  );
}

/** The visits of a day as a stacked bar, with a text alternative. */
function Bar({ day, highest }: { readonly day: ReportDay; readonly highest: number }): ReactNode {
  const parts = STACK.filter((what) => day[what] > 0);
  if (parts.length === 0) return <span role="img" aria-label={day.words} title={day.words} />;
  return (
    <div role="img" aria-label={day.words} title={day.words}>
      <table role="presentation" align="center" cellPadding={0} cellSpacing={0} border={0} width={BAR_PX}>
        <tbody>
          {parts.map((what) => (
            <Block key={what} what={what} height={Math.max(2, Math.round((day[what] / highest) * CHART_PX))} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Block({ what, height }: { readonly what: (typeof STACK)[number]; readonly height: number }): ReactNode {
  const style = {
    height,
    fontSize: 1,
    lineHeight: '1px',
    // Otherwise Word makes a row at least as high as a line of text.
    msoLineHeightRule: 'exactly',
    backgroundColor: colours[what],
    borderBottom: `1px solid ${colours.card}`,
  };
  return (
    <tr>
      <td className={`${what} seam`} height={height} style={style}>
        {'\u00a0'}
      </td>
    </tr>
  );
}
