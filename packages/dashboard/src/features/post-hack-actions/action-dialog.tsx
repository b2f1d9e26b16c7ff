import type { Job, JobKind } from '@security-optimizer/contract/post-hack/endpoints';
import { type ReactElement, useState } from 'react';
import { useSite } from '../../api/site-context.js';
import { FormDialog } from '../../forms/form-dialog.js';
import { useSubmit } from '../../forms/use-submit.js';
import { formatNumber } from '../../i18n/locale.js';
import { __, _n, sprintf } from '../../i18n/translate.js';
import { Checkbox } from '../../ui/checkbox.js';
import { useDialogClose } from '../../ui/dialog.js';
import { Note } from '../../ui/inline-messages.js';
import { actionTexts, type PostHackState, readStartedJob, toStartCall } from './post-hack-jobs.js';

export interface ActionDialogProps {
  readonly kind: JobKind;
  readonly facts: PostHackState['facts'];
  /** Called when the action has started. @param loggedOut whether it ended the owner's session */
  readonly onStarted: (job: Job | null, loggedOut: boolean) => void;
  /** Called if the outcome is unknown: the action may have started. */
  readonly onUnclear: () => void;
  readonly onClosed: () => void;
}

/** Explains an action and asks for confirmation. Cancel has the focus. */
export default function ActionDialog({ kind, facts, onStarted, onUnclear, onClosed }: ActionDialogProps) {
  const saving = useSubmit();
  const closing = useDialogClose(onClosed);
  const [keep, setKeep] = useState(false);
  const { act, acting } = actionTexts(kind);

  function submit(): void {
    const keeps = kind === 'log-out-users' && keep;
    saving.save<unknown>({
      call: toStartCall(kind, keeps ? { keep_mine: 1 } : {}),
      onSuccess: (data) => {
        closing.close();
        onStarted(readStartedJob(data), kind !== 'reinstall-plugins' && !keeps);
      },
      onUnclear,
    });
  }

  return (
    <FormDialog
      role="alertdialog"
      title={act}
      closing={closing}
      saving={saving}
      onSubmit={submit}
      danger
      submitText={act}
      pendingText={acting}
      failedText={__('We couldn’t start this.', 'security-optimizer')}
    >
      <WhatHappens kind={kind} facts={facts} />
      {kind === 'log-out-users' ? (
        <Checkbox className="so-mt-16" checked={keep} onChange={setKeep}>
          <b>{__('Keep me logged in', 'security-optimizer')}</b>
          <small>
            {__(
              'Your session goes on. WordPress then keeps its security keys, since new ones would end it too.',
              'security-optimizer',
            )}
          </small>
        </Checkbox>
      ) : null}
    </FormDialog>
  );
}

function WhatHappens({ kind, facts }: Pick<ActionDialogProps, 'kind' | 'facts'>): ReactElement {
  const { config } = useSite();
  switch (kind) {
    case 'reinstall-plugins':
      return (
        <>
          <p>
            {__(
              'Each free plugin is downloaded in the version that you have, checked, and put in place of the old copy. Settings and content stay, and so does whether it is active.',
              'security-optimizer',
            )}
          </p>
          <p className="so-mt-16">
            {__(
              'Files that are not part of a plugin are removed from its folder, with all changes made to its code. Plugins that are not in the plugin directory are left as they are.',
              'security-optimizer',
            )}
          </p>
        </>
      );
    case 'force-password-reset':
      return (
        <>
          <p>
            {facts.users === null
              ? __('All users are logged out at once, you included.', 'security-optimizer')
              : sprintf(
                  /* translators: %s: number of users */
                  _n(
                    '%s user is logged out at once, you included.',
                    'All %s users are logged out at once, you included.',
                    facts.users,
                    'security-optimizer',
                  ),
                  formatNumber(facts.users),
                )}{' '}
            {__(
              'Everyone chooses a new password at the next login and gets a mail with a link for it. Application passwords stop working, too.',
              'security-optimizer',
            )}
          </p>
          <Warning>{ownLinkText(config.userEmail)}</Warning>
        </>
      );
    case 'log-out-users':
      return (
        <p>
          {facts.sessions === null
            ? __('Every open session ends at once.', 'security-optimizer')
            : sprintf(
                /* translators: %s: number of sessions */
                _n(
                  '%s open session ends at once.',
                  'All %s open sessions end at once.',
                  facts.sessions,
                  'security-optimizer',
                ),
                formatNumber(facts.sessions),
              )}{' '}
          {__('Everyone can log in again with the same password.', 'security-optimizer')}
        </p>
      );
  }
}

/** Describes where the owner's link is sent. @param email '' without an address, null if unknown */
function ownLinkText(email: string | null): string {
  if (email === null) {
    return __('Check first that your e-mail address is right. You may need it to get back in.', 'security-optimizer');
  }
  if (email === '') {
    return __(
      'Your account has no e-mail address, so you get no link and can’t get back in by yourself. Add an address to your profile first.',
      'security-optimizer',
    );
  }
  return sprintf(
    /* translators: %s: an e-mail address */
    __('Your own link goes to %s. Check first that you can read your mail there.', 'security-optimizer'),
    email,
  );
}

function Warning({ children }: { readonly children: string }) {
  return (
    <div className="so-mt-16">
      <Note kind="warn">
        <p>{children}</p>
      </Note>
    </div>
  );
}
