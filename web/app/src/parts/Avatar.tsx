import styles from './Avatar.module.css';

// Avatar is a disc with the first letter of a username, in a colour that belongs to the user's id.
export function Avatar({ user, size }: { user: { id: string; username: string }; size?: 'large' }) {
  const hue = Array.from(user.id).reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 360, 0);
  return (
    <span
      className={styles.avatar}
      data-size={size}
      aria-hidden="true"
      ref={(element) => element?.style.setProperty('--hue', String(hue))}
    >
      {user.username[0]!.toUpperCase()}
    </span>
  );
}
