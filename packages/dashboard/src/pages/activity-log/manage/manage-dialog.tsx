import { useState } from 'react';
import { Button } from '../../../components/button.js';
import { LoadFailed } from '../../../components/load-failed.js';
import { Note } from '../../../components/note.js';
import { Dialog } from '../../../dialogs/dialog.js';
import { useClosing } from '../../../dialogs/use-closing.js';
import { SaveFailed } from '../../../forms/save-failed.js';
import { useSave } from '../../../forms/use-save.js';
import { __, sprintf } from '../../../i18n/translate.js';
import { useVisitorStatus } from './use-visitor-status.js';
import { VisitorFacts, VisitorSkeleton, VisitorSubject } from './visitor-facts.js';

/** Whom a dialog is about. */
export interface Subject {
  readonly type: 'ip' | 'user';
  /** Id of the visitor. */
  readonly id: number;
  /** Address or login, as the list has it. */
  readonly name: string;
}

export interface ManageDialogProps {
  readonly subject: Subject;
  readonly onChanged: () => void;
  readonly onClosed: () => void;
}

/** Manage IP Traffic, Manage User Traffic: blocks or unblocks. The present state is read on each opening. */
export default function ManageDialog({ subject, onChanged, onClosed }: ManageDialogProps) {
  const { status, failure: unread, retry } = useVisitorStatus(subject.id);
  const { pending, failure, save } = useSave();
  const [single, setSingle] = useState(false);
  const closing = useClosing(onClosed);
  const name = status?.name ?? subject.name;
  const isUser = subject.type === 'user';
  const isBlocked = status?.block === 1;
  const network = status?.network ?? '';
  const canChange = status !== null && (isBlocked || !status.doNotBlock);

  function submit(): void {
    if (!canChange) return;
    save<unknown>({
      name: isUser ? 'blockUser' : 'blockIp',
      call: {
        suffix: `/block-${isUser ? 'user' : 'ip'}/${subject.id}`,
        body: isBlocked ? { block: 0 } : { block: 1, ...(single && { single: 1 }) },
      },
      onSuccess: () => {
        closing.close();
        onChanged();
      },
    });
  }

  return (
    <Dialog
      title={isUser ? __('Manage User Traffic', 'security-optimizer') : __('Manage IP Traffic', 'security-optimizer')}
      closing={closing}
      pending={pending}
      onSubmit={submit}
      footer={
        canChange ? (
          <Button
            kind={isBlocked ? 'primary' : 'danger'}
            submit
            pendingText={pending ? pendingText(isBlocked) : undefined}
          >
            {isBlocked ? __('Unblock', 'security-optimizer') : __('Block', 'security-optimizer')}
          </Button>
        ) : null
      }
    >
      {unread !== null ? (
        <LoadFailed
          text={__('We couldn’t load the present state.', 'security-optimizer')}
          failure={unread}
          onRetry={retry}
        />
      ) : status === null ? (
        <VisitorSkeleton name={name} isUser={isUser} />
      ) : (
        <>
          <VisitorSubject name={name} isUser={isUser} status={status} />
          <VisitorFacts status={status} isUser={isUser} />
          {canChange ? (
            <>
              <p>{consequence(isUser, isBlocked, name, single ? '' : network)}</p>
              {isBlocked || network === '' ? null : <OnlyThisAddress single={single} onChange={setSingle} />}
            </>
          ) : (
            <Note>
              <p>
                <strong>{__('This can’t be blocked.', 'security-optimizer')}</strong> {status.reason}
              </p>
            </Note>
          )}
        </>
      )}
      <SaveFailed failure={failure} />
    </Dialog>
  );
}

/** The single address on request: whoever has it usually has the whole network. */
function OnlyThisAddress({ single, onChange }: { readonly single: boolean; readonly onChange: (on: boolean) => void }) {
  return (
    <label className="so-check so-mt-16">
      <input type="checkbox" checked={single} onChange={(event) => onChange(event.target.checked)} />
      <span>
        <b>{__('Block only this address', 'security-optimizer')}</b>
        <small>{__('The other addresses of the network can still open the site.', 'security-optimizer')}</small>
      </span>
    </label>
  );
}

function pendingText(isBlocked: boolean): string {
  return isBlocked ? __('Unblocking…', 'security-optimizer') : __('Blocking…', 'security-optimizer');
}

function consequence(isUser: boolean, isBlocked: boolean, name: string, network: string): string {
  if (isUser) {
    return isBlocked
      ? __('Once unblocked, the user can log in again right away.', 'security-optimizer')
      : __(
          'If you block this user, they are logged out at once and can’t log in until you unblock them in the Blocked tab. Their content stays.',
          'security-optimizer',
        );
  }
  if (isBlocked) return __('Once unblocked, this address can open the site again right away.', 'security-optimizer');
  if (network !== '') {
    return sprintf(
      /* translators: %s: a network of IPv6 addresses */
      __(
        'An IPv6 address changes often, so its whole network %s is blocked with it. Nobody in it can open any page of the site until you unblock it in the Blocked tab.',
        'security-optimizer',
      ),
      // From left to right in every language.
      `\u2066${network}\u2069`,
    );
  }
  // With anonymised addresses a visitor is a network.
  return name.includes('/')
    ? __(
        'Only this network is known, not the single address. If you block it, nobody in it can open any page of the site until you unblock it in the Blocked tab.',
        'security-optimizer',
      )
    : __(
        'If you block this address, it can’t open any page of the site until you unblock it in the Blocked tab.',
        'security-optimizer',
      );
}
