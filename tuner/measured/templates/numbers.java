
final class NAME {
    private static double[] values;
    private static synchronized void read() {
        double[] found = new double[COUNT];
        java.util.Arrays.fill(found, Double.NaN);
        String name = System.getenv("EVALTUNE_VALUES");
        try {
            if (name != null) {
                java.nio.file.Path path = java.nio.file.Paths.get(name);
                for (String line : java.nio.file.Files.readAllLines(path)) {
                    String[] words = line.trim().split(" ");
                    found[Integer.parseInt(words[0])] = Double.parseDouble(words[1]);
                }
            }
        } catch (java.io.IOException problem) { throw new RuntimeException(problem); }
        values = found;
    }
    private static double value(int k, double v) {
        if (values == null) read();
        return Double.isNaN(values[k]) ? v : values[k];
    }
    static int n(int k, int v) { return (int) value(k, v); }
    static long n(int k, long v) { return (long) value(k, v); }
    static float n(int k, float v) { return (float) value(k, v); }
    static double n(int k, double v) { return value(k, v); }
}
