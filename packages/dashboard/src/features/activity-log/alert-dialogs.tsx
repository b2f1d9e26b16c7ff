import { updateAlertSlack, updateAlertSyslog, updateAlertWebhook } from '@security-optimizer/contract/alerts/endpoints';
import type { Alerts } from '@security-optimizer/contract/alerts/schemas';
import type { Endpoint } from '@security-optimizer/contract/endpoint';
import { messages } from '@security-optimizer/contract/messages';
import { dropUnseen, toPlainText } from '@security-optimizer/contract/typed-text';
import { type ReactNode, useRef, useState } from 'react';
import { FormDialog } from '../../forms/form-dialog.js';
import { useSubmit } from '../../forms/use-submit.js';
import { __, translate } from '../../i18n/translate.js';
import { Button } from '../../ui/button.js';
import { useDialogClose } from '../../ui/dialog.js';
import { Field, TextInput } from '../../ui/field.js';
import { Select } from '../../ui/select.js';
import { focusFirstError, type Messages, useFormErrors } from '../../ui/use-form-errors.js';

interface ChannelDialogProps {
  readonly title: string;
  readonly endpoint: Endpoint;
  readonly isOn: boolean;
  readonly dirty: boolean;
  readonly errors: Messages;
  /** The body of the request that stores the form. */
  readonly body: () => object;
  /** The body that switches the channel off. */
  readonly off: object;
  readonly onStored: (data: unknown) => void;
  readonly onClosed: () => void;
  readonly children: (form: ReturnType<typeof useFormErrors>) => ReactNode;
}

/** A dialog that stores the destination of a channel, or switches it off. */
function ChannelDialog(props: ChannelDialogProps) {
  const { title, endpoint, isOn, dirty, errors, off } = props;
  const body = useRef<HTMLDivElement>(null);
  const form = useFormErrors(errors, () => focusFirstError(body.current));
  const saving = useSubmit();
  const closing = useDialogClose(props.onClosed);

  function save(request: object): void {
    saving.save<unknown>({
      call: { endpoint, request },
      onSuccess: (stored) => {
        props.onStored(stored);
        closing.close();
      },
      onFailure: ({ fields }) => form.showServerErrors(fields),
    });
  }

  return (
    <FormDialog
      title={title}
      closing={closing}
      saving={saving}
      dirty={dirty}
      submitDisabled={!dirty}
      onSubmit={() => {
        if (form.check()) save(props.body());
      }}
      otherAction={
        isOn && !saving.pending ? (
          <Button onClick={() => save(off)}>{__('Switch off', 'security-optimizer')}</Button>
        ) : undefined
      }
    >
      <div ref={body}>{props.children(form)}</div>
    </FormDialog>
  );
}

interface DialogProps {
  readonly onStored: (data: unknown) => void;
  readonly onClosed: () => void;
}

/** A rough check; guard checks more closely. */
function urlError(url: string): string | undefined {
  if (url === '') return translate(messages.required);
  return /^https?:\/\/[^\s/]+/i.test(url)
    ? undefined
    : __('Enter a whole address, for example https://hooks.example.com/site.', 'security-optimizer');
}

/** Webhook: its URL, and the secret that signs each request. Neither is shown again. */
export function WebhookDialog({ webhook, ...props }: DialogProps & { readonly webhook: Alerts['webhook'] }) {
  const [url, setUrl] = useState('');
  const [secret, setSecret] = useState('');
  const isExisting = webhook !== null;
  const address = dropUnseen(url);
  const wrongUrl = isExisting && address === '' ? undefined : urlError(address);
  const wrongSecret =
    secret === ''
      ? isExisting
        ? undefined
        : translate(messages.required)
      : /^whsec_[A-Za-z0-9+/]{32,88}={0,2}$/.test(secret)
        ? undefined
        : __('Use whsec_ and 24 to 64 bytes in base64.', 'security-optimizer');
  return (
    <ChannelDialog
      {...props}
      title={__('Webhook', 'security-optimizer')}
      endpoint={updateAlertWebhook}
      isOn={isExisting}
      dirty={address !== '' || secret !== ''}
      errors={{ ...(wrongUrl ? { url: wrongUrl } : {}), ...(wrongSecret ? { secret: wrongSecret } : {}) }}
      body={() => ({ ...(address === '' ? {} : { url: address }), ...(secret === '' ? {} : { secret }) })}
      off={{ url: '' }}
    >
      {(form) => (
        <>
          <Field
            label={__('Address', 'security-optimizer')}
            help={
              isExisting
                ? __('Leave it empty to keep the one that is stored. It is not shown again.', 'security-optimizer')
                : __('Each alert is posted there as JSON.', 'security-optimizer')
            }
            error={form.shown.url}
          >
            {(control) => (
              <TextInput
                {...control}
                type="url"
                placeholder={webhook?.address ?? 'https://hooks.example.com/site'}
                value={url}
                onText={(text) => {
                  setUrl(text);
                  form.touch('url');
                }}
              />
            )}
          </Field>
          <Field
            label={__('Secret', 'security-optimizer')}
            help={
              isExisting
                ? __('Leave it empty to keep the one that is stored. It is not shown again.', 'security-optimizer')
                : __(
                    'Your service checks with it that a request comes from us. Keep a copy: it is not shown again.',
                    'security-optimizer',
                  )
            }
            error={form.shown.secret}
          >
            {(control) => (
              <div className="so-addmail">
                <TextInput
                  {...control}
                  mono
                  placeholder="whsec_…"
                  value={secret}
                  onText={(text) => {
                    setSecret(dropUnseen(text));
                    form.touch('secret');
                  }}
                />
                <Button
                  onClick={() => {
                    setSecret(newSecret());
                    form.touch('secret');
                  }}
                >
                  {__('Make a new one', 'security-optimizer')}
                </Button>
              </div>
            )}
          </Field>
        </>
      )}
    </ChannelDialog>
  );
}

/** Creates a secret in the format of Standard Webhooks: 32 random bytes. */
function newSecret(): string {
  const bytes = window.crypto.getRandomValues(new Uint8Array(32));
  return `whsec_${window.btoa(String.fromCharCode(...Array.from(bytes)))}`;
}

/** Slack: the URL of its incoming webhook, which is itself a secret. */
export function SlackDialog({ slack, ...props }: DialogProps & { readonly slack: Alerts['slack'] }) {
  const [url, setUrl] = useState('');
  const address = dropUnseen(url);
  const wrong = urlError(address);
  return (
    <ChannelDialog
      {...props}
      title={__('Slack', 'security-optimizer')}
      endpoint={updateAlertSlack}
      isOn={slack !== null}
      dirty={address !== ''}
      errors={wrong === undefined ? {} : { url: wrong }}
      body={() => ({ url: address })}
      off={{ url: '' }}
    >
      {(form) => (
        <Field
          label={__('Webhook URL', 'security-optimizer')}
          help={__(
            'Make an incoming webhook in Slack and paste its address. It is not shown again.',
            'security-optimizer',
          )}
          error={form.shown.url}
        >
          {(control) => (
            <TextInput
              {...control}
              type="url"
              placeholder="https://hooks.slack.com/services/…"
              value={url}
              onText={(text) => {
                setUrl(text);
                form.touch('url');
              }}
            />
          )}
        </Field>
      )}
    </ChannelDialog>
  );
}

type Syslog = NonNullable<Alerts['syslog']>;

const NEW_SYSLOG: Syslog = { host: '', port: 514, protocol: 'udp', framing: 'octets', last: null };

/** RFC 5425 for TLS; RFC 5426 for UDP, and by custom for TCP. */
function standardPort(protocol: Syslog['protocol']): string {
  return protocol === 'tls' ? '6514' : '514';
}

/** System log: host, port and protocol. */
export function SyslogDialog({ syslog, ...props }: DialogProps & { readonly syslog: Alerts['syslog'] }) {
  const stored = syslog ?? NEW_SYSLOG;
  const [host, setHost] = useState<string>(stored.host);
  const [port, setPort] = useState(String(stored.port));
  const [protocol, setProtocol] = useState(stored.protocol);
  const [framing, setFraming] = useState(stored.framing);
  const isPort = /^\d{1,5}$/.test(port) && Number(port) >= 1 && Number(port) <= 65_535;
  const form = { host: toPlainText(host), port: Number(port), protocol, framing };
  const isChanged = (['host', 'port', 'protocol', 'framing'] as const).some((name) => form[name] !== stored[name]);
  return (
    <ChannelDialog
      {...props}
      title={__('System log', 'security-optimizer')}
      endpoint={updateAlertSyslog}
      isOn={syslog !== null}
      dirty={isChanged}
      errors={{
        ...(form.host === '' ? { host: translate(messages.required) } : {}),
        ...(isPort ? {} : { port: __('Use a port from 1 to 65535.', 'security-optimizer') }),
      }}
      body={() => form}
      off={{ host: '' }}
    >
      {(errors) => (
        <>
          <Field
            label={__('Host', 'security-optimizer')}
            help={__(
              'Name or address of the server that keeps the log. Your hosting provider knows it.',
              'security-optimizer',
            )}
            error={errors.shown.host}
          >
            {(control) => (
              <TextInput
                {...control}
                placeholder="logs.example.com"
                value={host}
                onText={(text) => {
                  setHost(text);
                  errors.touch('host');
                }}
              />
            )}
          </Field>
          <Field label={__('Port', 'security-optimizer')} error={errors.shown.port}>
            {(control) => (
              <TextInput
                {...control}
                inputMode="numeric"
                value={port}
                onText={(text) => {
                  setPort(toPlainText(text));
                  errors.touch('port');
                }}
              />
            )}
          </Field>
          <Field
            label={__('Protocol', 'security-optimizer')}
            help={
              protocol === 'tls' ? __('The certificate of the server is checked.', 'security-optimizer') : undefined
            }
            error={undefined}
          >
            {(control) => (
              <Select<Syslog['protocol']>
                id={control.id}
                label={__('Protocol', 'security-optimizer')}
                value={protocol}
                options={[
                  { value: 'udp', text: 'UDP' },
                  { value: 'tcp', text: 'TCP' },
                  { value: 'tls', text: __('TCP with TLS', 'security-optimizer') },
                ]}
                onChange={(chosen) => {
                  setProtocol(chosen);
                  if (port === standardPort(protocol)) setPort(standardPort(chosen));
                }}
              />
            )}
          </Field>
          {protocol === 'tcp' ? (
            <Field
              label={__('Separation of messages', 'security-optimizer')}
              help={__('Most servers take both.', 'security-optimizer')}
              error={undefined}
            >
              {(control) => (
                <Select
                  id={control.id}
                  label={__('Separation of messages', 'security-optimizer')}
                  value={framing}
                  options={[
                    { value: 'octets', text: __('Counted octets', 'security-optimizer') },
                    { value: 'lf', text: __('Line feeds', 'security-optimizer') },
                  ]}
                  onChange={setFraming}
                />
              )}
            </Field>
          ) : null}
        </>
      )}
    </ChannelDialog>
  );
}
