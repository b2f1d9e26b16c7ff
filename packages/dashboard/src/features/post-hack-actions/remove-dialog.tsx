import type { CheckupFinding, RemovedFile } from '@security-optimizer/contract/post-hack/checkup';
import { removeFinding } from '@security-optimizer/contract/post-hack/checkup-endpoints';
import { useState } from 'react';
import { toCall } from '../../api/client.js';
import type { OutcomeMessage } from '../../api/outcome-messages.js';
import { FormDialog } from '../../forms/form-dialog.js';
import { useSubmit } from '../../forms/use-submit.js';
import { __, sprintf } from '../../i18n/translate.js';
import { Checkbox } from '../../ui/checkbox.js';
import { useDialogClose } from '../../ui/dialog.js';
import { ErrorText, Note } from '../../ui/inline-messages.js';
import { escapeText } from '../../ui/safe-html.js';
import { undoToast } from '../../ui/toast-store.js';
import { checkupSource, remainderMessage } from './checkup-data.js';
import { Fact, FileName, toHref } from './checkup-rows.js';

export interface RemoveDialogProps {
  readonly finding: CheckupFinding;
  /** The files that were removed before. */
  readonly removed: readonly RemovedFile[];
  /** Called with the response. */
  readonly onRemoved: (data: unknown) => void;
  /** Restores files. */
  readonly onUndo: (ids: string[]) => void;
  /** Called if the outcome is unknown: something may have been removed. */
  readonly onUnclear: () => void;
  readonly findNextFocus: () => Element | null;
  readonly onClosed: () => void;
}

/** Asks before an administrator or files are removed. Cancel has the focus. */
export default function RemoveDialog(props: RemoveDialogProps) {
  const { finding, removed, onRemoved, onUndo, onUnclear, findNextFocus, onClosed } = props;
  const { key, title, files } = finding;
  const isUser = finding.remove === 'administrator';
  const saving = useSubmit();
  const closing = useDialogClose(onClosed);
  /** Indices of the chosen files. */
  const [chosen, setChosen] = useState<readonly number[]>(() => [...files.keys()]);

  function submit(): void {
    const only = chosen.length < files.length ? { only: [...chosen] } : {};
    saving.save<unknown>({
      call: toCall(removeFinding, { key, ...only }),
      successMessage: toMessage,
      onSuccess: (data) => {
        closing.close();
        onRemoved(data);
      },
      onUnclear,
    });
  }

  function toMessage(data: unknown, message: string): OutcomeMessage {
    const [first] = chosen;
    const single = chosen.length === 1 && first !== undefined ? files[first] : undefined;
    const ids = (checkupSource.read(data).removed ?? [])
      .map(({ id }) => id)
      .filter((id) => !removed.some((before) => before.id === id));
    const { action, ...toast } = undoToast({
      title: __('Removed', 'security-optimizer'),
      text: escapeText(single === undefined ? title : `\u2066${single}\u2069`),
      undo: () => onUndo(ids),
    });
    const canUndo = !isUser && ids.length > 0;
    return { ...(remainderMessage(message) ?? toast), ...(canUndo && action && { action }) };
  }

  return (
    <FormDialog
      role="alertdialog"
      title={
        isUser
          ? __('Remove this administrator', 'security-optimizer')
          : files.length === 1
            ? __('Remove this file', 'security-optimizer')
            : __('Remove files', 'security-optimizer')
      }
      closing={closing}
      saving={saving}
      onSubmit={submit}
      findNextFocus={findNextFocus}
      danger
      submitText={__('Remove', 'security-optimizer')}
      pendingText={__('Removing…', 'security-optimizer')}
      submitDisabled={!isUser && chosen.length === 0}
      failedText={__('We couldn’t remove this.', 'security-optimizer')}
    >
      <p>
        <strong>{title}</strong>
      </p>
      {isUser ? (
        <AboutUser finding={finding} />
      ) : (
        <>
          {files.length === 1 ? (
            <FileName name={files[0]} />
          ) : (
            <FileChoice files={files} chosen={chosen} onChange={setChosen} />
          )}
          <p>{__('A copy is kept for 30 days, so that you can restore it.', 'security-optimizer')}</p>
          {finding.check === 'core' ? (
            <Note kind="warn">
              <p>{__('A file that you or your host put there on purpose stops working.', 'security-optimizer')}</p>
            </Note>
          ) : null}
        </>
      )}
    </FormDialog>
  );
}

function AboutUser({ finding }: Pick<RemoveDialogProps, 'finding'>) {
  const href = toHref(finding.link);
  return (
    <>
      <p>
        {__(
          'The account is removed from this site, its posts and pages go to you, and its sessions end at once. This can’t be undone.',
          'security-optimizer',
        )}
      </p>
      <Fact finding={finding} />
      {href === null ? null : (
        <p>
          {__('You can also change only the role.', 'security-optimizer')}{' '}
          <a className="so-link" href={href}>
            {finding.link_text || __('Open', 'security-optimizer')}
          </a>
        </p>
      )}
    </>
  );
}

interface FileChoiceProps {
  readonly files: readonly string[];
  /** Indices of the chosen files. */
  readonly chosen: readonly number[];
  readonly onChange: (chosen: readonly number[]) => void;
}

/** A checkbox for each file, and one for all of them. */
function FileChoice({ files, chosen, onChange }: FileChoiceProps) {
  const all = [...files.keys()];
  return (
    <div>
      <Checkbox checked={chosen.length === files.length} onChange={(checked) => onChange(checked ? all : [])}>
        <b>{__('All files', 'security-optimizer')}</b>
        <small role="status">
          {/* translators: 1: number of selected files, 2: number of all files */}
          {sprintf(__('%1$d of %2$d selected', 'security-optimizer'), chosen.length, files.length)}
        </small>
      </Checkbox>
      {chosen.length > 0 ? null : <ErrorText>{__('Choose at least one file.', 'security-optimizer')}</ErrorText>}
      <div className="so-files">
        {files.map((name, index) => (
          <Checkbox
            key={name}
            checked={chosen.includes(index)}
            onChange={(checked) => onChange(all.filter((one) => (one === index ? checked : chosen.includes(one))))}
          >
            <FileName name={name} />
          </Checkbox>
        ))}
      </div>
    </div>
  );
}
