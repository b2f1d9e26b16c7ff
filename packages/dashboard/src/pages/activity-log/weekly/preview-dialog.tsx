import { Dialog } from '../../../dialogs/dialog.js';
import { useClosing } from '../../../dialogs/use-closing.js';
import { __ } from '../../../i18n/translate.js';

/** The report as it would be sent now. */
export interface ReportPreview {
  readonly subject: string;
  readonly html: string;
  readonly text: string;
}

export interface PreviewDialogProps {
  readonly preview: ReportPreview;
  readonly onClosed: () => void;
}

/**
 * Shows the mail. It holds what visitors wrote, so it stands in a frame without any rights: no scripts, no forms, no
 * way to the page around it. Browsers that cannot fill such a frame show the plain text.
 */
export function PreviewDialog({ preview, onClosed }: PreviewDialogProps) {
  const closing = useClosing(onClosed);
  return (
    <Dialog
      title={preview.subject}
      size="large"
      closing={closing}
      onSubmit={closing.close}
      cancelText={__('Close', 'security-optimizer')}
      footer={null}
    >
      {'srcdoc' in document.createElement('iframe') ? (
        <iframe
          className="so-mail"
          title={__('Example of a weekly report', 'security-optimizer')}
          sandbox=""
          srcDoc={preview.html}
        />
      ) : (
        <pre className="so-mail">{preview.text}</pre>
      )}
    </Dialog>
  );
}
