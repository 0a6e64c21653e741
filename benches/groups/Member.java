import java.util.Arrays;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.jgroups.Address;
import org.jgroups.BytesMessage;
import org.jgroups.JChannel;
import org.jgroups.Message;
import org.jgroups.Receiver;
import org.jgroups.View;

/** A member of a group by JGroups: what `member.c` is of ours, with the same words and the same lines printed. */
public class Member implements Receiver {
    static int rank, members, octets;
    final Semaphore answers = new Semaphore(0);
    volatile long got, last = System.nanoTime();
    long order = 0xcbf29ce484222325L;
    volatile View view;
    volatile Address first;
    JChannel channel;
    volatile boolean trips;
    final Semaphore due = new Semaphore(0);
    final Object lock = new Object();

    void mix(long octet) {
        order = (order ^ (octet & 0xff)) * 1099511628211L;
    }

    @Override
    public void viewAccepted(View view) {
        this.view = view;
        first = view.getMembers().get(0);
    }

    @Override
    public void receive(Message message) {
        synchronized (lock) {
            int from = view.getMembers().indexOf(message.getSrc());
            mix(from);
            byte[] in = message.getArray();
            int at = message.getOffset();
            for (int i = 0; i < 8 && i < message.getLength(); i++) mix(in[at + i]);
            got++;
            last = System.nanoTime();
            if (!trips) return;
            if (rank == 0 && from != 0) answers.release();
            if (rank != 0 && from == 0) due.release();
        }
    }

    void cast(long number) throws Exception {
        byte[] out = new byte[octets];
        for (int i = 0; i < 8 && i < octets; i++) out[i] = (byte) (number >> 8 * i);
        channel.send(new BytesMessage(null, out));
    }

    void run(String mode, int count, String stack, String name) throws Exception {
        trips = mode.equals("trip");
        channel = new JChannel(stack);
        channel.setReceiver(this);
        channel.connect(name);
        long limit = System.nanoTime() + 30_000_000_000L;
        while (channel.getView().size() != members && System.nanoTime() < limit) Thread.sleep(20);
        if (channel.getView().size() != members) throw new IllegalStateException("no view of " + members);
        Thread.sleep(1500);
        if (trips) trips(count); else all(count);
        Thread.sleep(500);
        channel.close();
        System.exit(0);
    }

    void trips(int count) throws Exception {
        if (rank != 0) {
            while (due.tryAcquire(3, TimeUnit.SECONDS)) cast(got);
            return;
        }
        // The machine compiles as it goes: what comes first is not counted.
        int warm = 3000;
        long[] took = new long[count];
        for (int i = -warm; i < count; i++) {
            long began = System.nanoTime();
            cast(i);
            if (!answers.tryAcquire(members - 1, 5, TimeUnit.SECONDS)) throw new IllegalStateException("no answer to " + i);
            if (i >= 0) took[i] = System.nanoTime() - began;
        }
        Arrays.sort(took);
        System.out.println("p50 " + took[count / 2] + " p99 " + took[count * 99 / 100]);
    }

    void all(int count) throws Exception {
        // The same for what all cast: a round before the one that counts.
        round(count / 4);
        Thread.sleep(1000);
        synchronized (lock) {
            order = 0xcbf29ce484222325L;
            got = 0;
        }
        Thread.sleep(500);
        long took = round(count);
        System.out.println("took " + took + " got " + got + " order " + (got < (long) count * members ? "cut" : String.format("%016x", order)));
        Thread.sleep(1000);
    }

    /** How long it took until all were here; or fifteen seconds. */
    long round(int count) throws Exception {
        long began = System.nanoTime(), limit = began + 15_000_000_000L, wanted = (long) count * members;
        Thread sender = new Thread(() -> {
            try {
                for (int i = 0; i < count && System.nanoTime() < limit; i++) cast(i);
            } catch (Exception ended) {
                System.err.println(ended);
            }
        });
        sender.setDaemon(true);
        sender.start();
        while (got < wanted && System.nanoTime() < limit) Thread.sleep(1);
        return (got < wanted ? System.nanoTime() : last) - began;
    }

    public static void main(String[] words) throws Exception {
        rank = Integer.parseInt(words[0]);
        members = Integer.parseInt(words[1]);
        octets = Integer.parseInt(words[4]);
        new Member().run(words[2], Integer.parseInt(words[3]), words[5], words[6]);
    }
}
