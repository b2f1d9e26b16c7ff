import { Body } from '@react-email/body';
import { Column } from '@react-email/column';
import { Container } from '@react-email/container';
import { Head } from '@react-email/head';
import { Heading } from '@react-email/heading';
import { Html } from '@react-email/html';
import { Preview } from '@react-email/preview';
import { Row } from '@react-email/row';
import { Text } from '@react-email/text';
import type { ReactNode } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import type { WeeklyReport } from './build-report.js';
import { DayChart } from './day-chart.js';
import { CARD_WIDTH, darkSheet, narrowSheet, styles } from './mail-styles.js';
import { Figures, Foot, List, OpenPanel, Part } from './report-parts.js';

/**
 * The report as HTML for mail programs, made of the components of React Email: tables and inline styles, 600 pixels
 * wide, no images, nothing from elsewhere. React escapes every text.
 */
export function renderReport(report: WeeklyReport): string {
  return `<!DOCTYPE html>${renderToStaticMarkup(<Document report={report} />)}`;
}

function Document({ report }: { readonly report: WeeklyReport }): ReactNode {
  const { tag: lang, direction: dir } = report;
  return (
    <Html lang={lang} dir={dir}>
      <Head>
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="supported-color-schemes" content="light dark" />
        <meta name="format-detection" content="telephone=no, date=no, address=no, email=no, url=no" />
        <title>{report.subject}</title>
        <Sheet css={narrowSheet} />
        <Sheet css={darkSheet} />
      </Head>
      <Body className="page" style={styles.body}>
        <Preview>{report.summary}</Preview>
        <Row>
          <Column align="center" style={styles.page}>
            {/* Language and direction once more: Gmail keeps neither the root nor the body. */}
            <Container className="card" width={CARD_WIDTH} style={styles.card} lang={lang} dir={dir}>
              <Card report={report} />
            </Container>
          </Column>
        </Row>
      </Body>
    </Html>
  );
}

function Sheet({ css }: { readonly css: string }): ReactNode {
  // biome-ignore lint/security/noDangerouslySetInnerHtml: our own constant; React would escape its quotes
  return <style dangerouslySetInnerHTML={{ __html: css }} />;
}

function Card({ report }: { readonly report: WeeklyReport }): ReactNode {
  const { direction, labels, links } = report;
  const end = direction === 'rtl' ? 'left' : 'right';
  return (
    <>
      <Part top={28}>
        <Row>
          <Column className="brand" style={styles.brand}>
            Security Optimizer
          </Column>
          <Column className="soft" align={end} style={styles.small}>
            {report.period}
          </Column>
        </Row>
      </Part>
      <Part top={24}>
        <Heading className="ink" style={styles.h1}>
          {report.headline}
        </Heading>
        <Text className="soft" style={styles.lead}>
          {report.summary}
        </Text>
      </Part>
      <Part top={24}>
        <Figures figures={report.figures} />
      </Part>
      <DayChart days={report.days} labels={labels} />
      {report.lists.map((list) => (
        <List key={list.title} list={list} end={end} />
      ))}
      {report.open === null ? null : <OpenPanel open={report.open} label={labels.setUp} link={links.setUp} />}
      <Part top={32} bottom={32}>
        <Foot notes={report.notes} labels={labels} links={links} />
      </Part>
    </>
  );
}
