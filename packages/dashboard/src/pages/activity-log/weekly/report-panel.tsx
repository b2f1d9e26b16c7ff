import { useState } from 'react';
import { Button } from '../../../components/button.js';
import { useSave } from '../../../forms/use-save.js';
import { __, sprintf } from '../../../i18n/translate.js';
import { Icon } from '../../../icons/icon.js';
import { ignoreFailure } from '../../../options/use-changes.js';
import { useServices } from '../../../services.js';
import { PreviewDialog, type ReportPreview } from './preview-dialog.js';

/** What is in the report, an example of it, and a test mail to the owner. */
export function ReportPanel() {
  const { run } = useServices();
  const [preview, setPreview] = useState<ReportPreview | null>(null);
  const [loading, setLoading] = useState(false);
  const { pending, save } = useSave();
  const contents = [
    __('Visits by humans and bots', 'security-optimizer'),
    __('Blocked logins and visits', 'security-optimizer'),
    __('The addresses that tried most', 'security-optimizer'),
    __('What your users changed', 'security-optimizer'),
  ];

  function show(): void {
    setLoading(true);
    run<ReportPreview>({
      name: 'previewWeeklyReport',
      call: { suffix: '/weekly-report-preview' },
      onSuccess: setPreview,
      onComplete: () => setLoading(false),
    }).catch(ignoreFailure);
  }

  function sendTest(): void {
    save<{ email?: string } | null>({
      name: 'testWeeklyReport',
      call: { suffix: '/weekly-report-test' },
      successText: (data) =>
        /* translators: %s: an e-mail address */
        sprintf(__('A test report is on its way to %s.', 'security-optimizer'), data?.email ?? ''),
    });
  }

  return (
    <aside className="so-card so-hard so-cols__side">
      <span className="so-tile is-on so-tile--48">
        <Icon name="mail" />
      </span>
      <h3>{__('What’s in the report', 'security-optimizer')}</h3>
      <p>{__('Enough to keep an eye on the site without logging in.', 'security-optimizer')}</p>
      <ul className="so-ticks">
        {contents.map((text) => (
          <li key={text}>
            <Icon name="check" />
            {text}
          </li>
        ))}
      </ul>
      <div className="so-hard__acts">
        <Button onClick={show} pendingText={loading ? __('Loading…', 'security-optimizer') : undefined}>
          {__('See an example', 'security-optimizer')}
        </Button>
        <Button
          kind="quiet"
          onClick={sendTest}
          pendingText={pending ? __('Sending…', 'security-optimizer') : undefined}
        >
          {__('Send me a test', 'security-optimizer')}
        </Button>
      </div>
      {preview === null ? null : <PreviewDialog preview={preview} onClosed={() => setPreview(null)} />}
    </aside>
  );
}
