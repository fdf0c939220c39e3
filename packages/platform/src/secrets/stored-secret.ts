import { invalidField } from '@portal/domain/errors';
import { Secret } from '@portal/domain/secret';
import { secretChange, type SecretInput } from '@portal/domain/secret-input';
import { mayTravel, type SecretTarget } from '@portal/domain/secret-target';
import type { Secrets } from './sealed.ts';

/** Where a secret is kept, all of it from one reading of the row. */
export interface SecretPlace {
  /** Names the place in the seal: `smtp_configs.password:<tenant id>`. */
  context: string;
  /** What it is called in the body that sets it. */
  field: string;
  /** Sealed; null where none is kept. */
  sealed: string | null;
  /** Where the row says it goes; null when the row names no server. */
  target: SecretTarget | null;
}

/** A secret that is got out by saying where it travels, and no other way. A missing input means the stored one, and so do a blank and a masked one. */
export interface StoredSecret {
  /**
   * The secret for one use at that target; null for none. Throws 400 `SECRET_REQUIRED` when the stored one is meant and was not
   * stored for it, and an UnreadableSecretError when no key opens it.
   */
  for(target: SecretTarget, input?: SecretInput): Secret | null;
  /** What is to be stored, together with that target and in the transaction that has locked the row. Throws 400 `SECRET_REQUIRED` as well. */
  sealedFor(target: SecretTarget | null, input: SecretInput): string | null;
}

/** What use cases reach of the secrets at rest. */
export interface SecretStore {
  at(place: SecretPlace): StoredSecret;
}

export const openSecretStore = (secrets: Secrets): SecretStore => ({
  at({ context, field, sealed, target: storedFor }) {
    const changeFor = (target: SecretTarget | null, input: SecretInput) => {
      const change = secretChange(input);
      if (change.kind === 'keep' && sealed !== null && !mayTravel(storedFor, target))
        throw invalidField(
          field,
          'must be entered again, or removed with null: the stored one is for another server, account or encryption',
          'SECRET_REQUIRED',
        );
      return change;
    };
    return {
      for(target, input) {
        const change = changeFor(target, input);
        if (change.kind === 'set') return new Secret(change.value);
        return change.kind === 'remove' || sealed === null ? null : new Secret(secrets.open(sealed, context));
      },
      sealedFor(target, input) {
        const change = changeFor(target, input);
        if (change.kind === 'set') return secrets.seal(change.value, context);
        return change.kind === 'remove' ? null : sealed;
      },
    };
  },
});
