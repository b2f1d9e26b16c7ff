import type { ReactNode } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import type { WeeklyReport } from './build-report.js';
import { sheet, styles } from './mail-styles.js';
import { DayChart, Figures, List, OpenPanel, Part, Rows } from './report-parts.js';

/**
 * The report as HTML for mail programs: tables and inline styles, 600 pixels wide, no images, nothing from elsewhere.
 * React escapes every text.
 */
export function renderReport(report: WeeklyReport): string {
  return `<!DOCTYPE html>${renderToStaticMarkup(<Document report={report} />)}`;
}

function Document({ report }: { readonly report: WeeklyReport }): ReactNode {
  return (
    <html lang="en">
      <head>
        <meta charSet="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="supported-color-schemes" content="light dark" />
        <meta name="format-detection" content="telephone=no, date=no, address=no, email=no, url=no" />
        <title>{report.subject}</title>
        {/* biome-ignore lint/security/noDangerouslySetInnerHtml: our own constant; React would escape its quotes */}
        <style dangerouslySetInnerHTML={{ __html: sheet }} />
      </head>
      <body className="page" style={styles.body}>
        <div style={styles.hidden}>{report.summary}</div>
        <Rows className="page" style={{ background: styles.body.background }}>
          <tr>
            <td align="center" style={{ padding: '32px 12px' }}>
              <Rows className="card" width={600} style={styles.card}>
                <Card report={report} />
              </Rows>
            </td>
          </tr>
        </Rows>
      </body>
    </html>
  );
}

function Card({ report }: { readonly report: WeeklyReport }): ReactNode {
  const { links, notes } = report;
  return (
    <>
      <Part top={28}>
        <Rows>
          <tr>
            <td className="brand" style={styles.brand}>
              Security Optimizer
            </td>
            <td className="soft" align="right" style={styles.small}>
              {report.period}
            </td>
          </tr>
        </Rows>
      </Part>
      <Part top={24}>
        <h1 className="ink" style={styles.h1}>
          {report.headline}
        </h1>
        <p className="soft" style={styles.lead}>
          {report.summary}
        </p>
      </Part>
      <Part top={24}>
        <Figures figures={report.figures} />
      </Part>
      <DayChart days={report.days} />
      {report.lists.map((list) => (
        <List key={list.title} list={list} />
      ))}
      {report.open === null ? null : <OpenPanel open={report.open} link={links.setUp} />}
      <Part top={32} bottom={32}>
        <div className="faint" style={styles.tiny}>
          {notes.map((note) => `${note} `).join('')}
          You get this report because your address is on the list for {report.site}.
          <br />
          <FootLink href={links.log}>Open the activity log</FootLink>
          {links.log === null || links.recipients === null ? null : ' · '}
          <FootLink href={links.recipients}>Change the recipients</FootLink>
        </div>
      </Part>
    </>
  );
}

function FootLink({ href, children }: { readonly href: string | null; readonly children: ReactNode }): ReactNode {
  if (href === null) return null;
  return (
    <a className="brand" href={href} style={{ color: styles.brand.color, whiteSpace: 'nowrap' }}>
      {children}
    </a>
  );
}
