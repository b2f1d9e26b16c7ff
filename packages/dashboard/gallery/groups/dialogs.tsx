import { ApiError } from '../../src/api/envelope.js';
import ConsentDialog from '../../src/features/consent/consent-dialog.js';
import { FormDialog, type FormDialogProps } from '../../src/forms/form-dialog.js';
import { SaveFailed } from '../../src/forms/request-failed.js';
import { Button } from '../../src/ui/button.js';
import { ConfirmDialog, Dialog, type DialogProps } from '../../src/ui/dialog.js';
import { Drawer } from '../../src/ui/drawer.js';
import { Field } from '../../src/ui/field.js';
import type { Group, PartExample } from '../example.js';
import { LONG, nothing } from './samples.js';

const closing = { closing: false, close: nothing };
const idle = { pending: false, failure: null, save: nothing };

function body() {
  return (
    <Field label="Login URL" help="Small letters, digits and hyphens." error={undefined}>
      {(control) => <input {...control} className="so-input" type="text" defaultValue="team-entrance" />}
    </Field>
  );
}

function dialog(state: string, props: Partial<DialogProps>): PartExample {
  return {
    id: `dialog-${state}`,
    title: `dialog, ${state.replace(/-/g, ' ')}`,
    alone: true,
    draw: () => (
      <Dialog
        title="Custom Login URL"
        closing={closing}
        onSubmit={nothing}
        footer={
          <Button kind="primary" submit>
            Save
          </Button>
        }
        {...props}
      >
        {props.children ?? body()}
      </Dialog>
    ),
  };
}

function form(state: string, props: Partial<FormDialogProps>): PartExample {
  return {
    id: `form-dialog-${state}`,
    title: `dialog with a form, ${state.replace(/-/g, ' ')}`,
    alone: true,
    draw: () => (
      <FormDialog title="Custom Login URL" closing={closing} saving={idle} onSubmit={nothing} {...props}>
        {body()}
      </FormDialog>
    ),
  };
}

export const dialogs: Group = {
  id: 'dialogs',
  title: 'Dialogs',
  examples: [
    {
      id: 'drawer',
      title: 'drawer',
      alone: true,
      draw: () => (
        <Drawer
          title="Request"
          place={{ position: '12 of 573', onNewer: nothing, onOlder: null }}
          closing={closing}
          newerText="Newer request"
          olderText="Older request"
          footer={<Button>Copy details</Button>}
        >
          {body()}
        </Drawer>
      ),
    },
    dialog('medium', {}),
    dialog('large', { size: 'large', footText: '3 changes' }),
    dialog('long-text', { title: LONG, children: <p>{`${LONG}. `.repeat(40)}</p> }),
    dialog('must-answer', { mustAnswer: true }),
    form('idle', {}),
    form('pending', { saving: { ...idle, pending: true } }),
    form('failed', { saving: { ...idle, failure: new ApiError('no_response') } }),
    form('disabled', { submitDisabled: true, otherAction: <Button>Reset</Button> }),
    {
      id: 'dialog-discard',
      title: 'asks before changes are lost',
      alone: true,
      draw: () => (
        <Dialog title="Custom Login URL" closing={closing} dirty onSubmit={nothing} footer={null}>
          {body()}
        </Dialog>
      ),
      act: (user) => user.press('{Escape}'),
    },
    {
      id: 'confirm-dialog',
      title: 'asks before something that cannot be taken back',
      alone: true,
      draw: () => (
        <ConfirmDialog
          title="Force password reset"
          confirmText="Reset all passwords"
          cancelText="Cancel"
          onClosed={nothing}
          onConfirm={nothing}
        >
          <p>All users are logged out at once, you included.</p>
        </ConfirmDialog>
      ),
    },
    ...(['both', 'data', 'email'] as const).map((questions) => ({
      id: `consent-${questions}`,
      title: `consent, ${questions}`,
      alone: true,
      draw: () => (
        <ConsentDialog showDataField={questions !== 'email'} showEmailField={questions !== 'data'} onClosed={nothing} />
      ),
    })),
    {
      id: 'consent-chosen',
      title: 'consent, one chosen',
      alone: true,
      draw: () => <ConsentDialog showDataField showEmailField onClosed={nothing} />,
      act: (user) => user.click('checkbox', 'Get occasional e-mails'),
    },
    {
      id: 'save-failed',
      title: 'saving failed',
      draw: () => <SaveFailed failure={new ApiError('no_response')} />,
    },
    {
      id: 'save-failed-session',
      title: 'saving failed, logged out',
      draw: () => <SaveFailed failure={new ApiError('session_gone')} text="We couldn’t send this." />,
    },
  ],
};
