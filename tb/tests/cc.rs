mod congestion;
