import { useState } from 'preact/hooks';
import type { Profile } from '@portal/client/interface';
import { useMutation } from '../mutation.ts';
import { Avatar } from '../ui/avatar.tsx';
import { Button } from '../ui/button.tsx';
import { ConfirmDialog } from '../ui/dialog.tsx';
import { FileField } from '../ui/field.tsx';
import { Card } from '../ui/page.tsx';
import { showToast } from '../ui/toast.tsx';
import { avatarVersion } from './avatar-version.ts';
import { CropDialog } from './crop-dialog.tsx';
import { openPicture, UnreadablePicture } from './open-picture.ts';
import { texts } from './profile-texts.ts';
import s from './profile.module.css';
import { useRemoveAvatar } from './queries.ts';

export function AvatarCard({ profile }: { profile: Profile }) {
  const t = texts.value;
  const [isRemoving, setRemoving] = useState(false);
  const open = useMutation({ mutationFn: openPicture });
  const { error, data: picture } = open;
  return (
    <Card title={t.avatarTitle}>
      <div class={s.avatar}>
        <Avatar me name={profile.displayName ?? profile.username} size={96} version={avatarVersion.value} />
        {profile.hasAvatar && <Button onClick={() => setRemoving(true)}>{t.removeAvatar}</Button>}
      </div>
      <FileField
        label={t.chooseAvatar}
        accept="image/*"
        hint={t.avatarHint}
        busy={open.isPending}
        error={error ? t.unreadable[error instanceof UnreadablePicture ? error.reason : 'damaged'] : undefined}
        onFiles={([file]) => file && open.mutate(file)}
      />
      {picture && <CropDialog picture={picture} onClose={open.reset} />}
      {isRemoving && <RemoveDialog onClose={() => setRemoving(false)} />}
    </Card>
  );
}

function RemoveDialog({ onClose }: { onClose: () => void }) {
  const t = texts.value;
  const remove = useRemoveAvatar();
  const confirm = async () => {
    await remove.mutateAsync();
    showToast(t.avatarRemoved, { kind: 'success' });
  };
  return (
    <ConfirmDialog title={t.removeAvatar} confirmLabel={t.removeAvatar} danger onConfirm={confirm} onClose={onClose}>
      {t.removeAvatarText}
    </ConfirmDialog>
  );
}
